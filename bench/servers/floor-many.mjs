// The floor of starting: a node:http process that spawns its servers at once, shakes hands, and forwards calls to them.
// No check, no catalog, no limits. `node floor-many.mjs COUNT SERVER.mjs`; the servers are called s0, s1, and so on.
import { spawn } from "node:child_process";
import { createServer } from "node:http";

const waiting = new Map();
let lastId = 0;

function start() {
  const child = spawn(process.execPath, [process.argv[3]], { stdio: ["pipe", "pipe", "inherit"] });
  let rest = "";
  child.stdout.on("data", (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const message = JSON.parse(line);
      const done = waiting.get(message.id);
      waiting.delete(message.id);
      done?.(message);
    }
  });
  const server = { isUp: false, ask };
  function ask(method, params, done) {
    lastId += 1;
    waiting.set(lastId, done);
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: lastId, method, params })}\n`);
  }
  ask(
    "initialize",
    { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "floor", version: "1" } },
    () => {
      child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
      ask("tools/list", {}, () => (server.isUp = true));
    },
  );
  return server;
}

const servers = Array.from({ length: Number(process.argv[2]) }, start);
const http = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString());
    const reply = (body) => response.end(JSON.stringify({ ...body, jsonrpc: "2.0", id }));
    if (method !== "tools/call") return reply({ result: { tools: [] } });
    const [name, tool] = params.arguments.tool_path.split(":");
    const server = servers[Number(name.slice(1))];
    if (!server.isUp) return reply({ error: { code: -32000, message: "not yet" } });
    return server.ask("tools/call", { name: tool, arguments: params.arguments.arguments }, reply);
  });
});
http.listen(0, "127.0.0.1", () => process.stdout.write(`listening on http://127.0.0.1:${http.address().port}\n`));
process.on("SIGTERM", () => process.exit(0));
