// The empty node:http server that the gateway's start and memory are compared with.
import { createServer } from "node:http";

const server = createServer((request, response) => {
  request.resume();
  response.writeHead(200, { "content-type": "application/json", "content-length": 2 }).end("{}");
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`listening on http://127.0.0.1:${server.address().port}\n`));
