// A gateway inside a program of your own. Run it with `node examples/embed.mjs` after `npm ci` and `npm run build`.
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { createGateway } from "toolyard";

// A configuration file, as for `toolyard serve`; `config: { mcpServers: { ... } }` takes it as an object.
const gateway = await createGateway({ configFile: fileURLToPath(new URL("mcp.json", import.meta.url)) });

// A search waits two seconds for servers whose tools are not known yet; this waits until all of them are up.
await gateway.ready();

// What a need in plain words means, with JSON Schemas that can be handed to a model as they are.
const [best] = await gateway.search("add two numbers", { limit: 3 });
console.log(`found ${best.path}: ${Object.keys(best.inputSchema.properties).join(", ")}`);

// In process: no HTTP, no session. Arguments are checked, and the server is started when it is not running.
const sum = await gateway.call(best.path, { a: 2, b: 40 });
console.log(`called it: ${sum.content[0].text}`);

// Over a server of your own, beside your own routes. `gateway.listen({ port: 0 })` would do without one.
const server = createServer((request, response) => {
  if (request.url === "/hello") response.end("hello from the program\n");
  else gateway.handler(request, response);
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${server.address().port}`;
console.log(`own route: ${(await (await fetch(`${url}/hello`)).text()).trim()}`);
const answer = await fetch(`${url}/execute/everything:echo`, {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify({ message: "over HTTP" }),
});
console.log(`over HTTP: ${(await answer.json()).result.content[0].text}`);

// Running calls end first; then the servers are stopped, and nothing of them is left.
await gateway.stop();
server.close();
console.log("stopped");
