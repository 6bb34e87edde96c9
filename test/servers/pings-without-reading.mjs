// A legacy server that sends pings without end once it has been initialized, and never reads the answers.
let input = "";
process.stdin.on("data", function take(chunk) {
  input += chunk;
  const lines = input.split("\n");
  input = lines.pop() ?? "";
  for (const line of lines.filter(Boolean)) {
    const { id, method } = JSON.parse(line);
    const result = {
      initialize: {
        protocolVersion: "2025-06-18",
        capabilities: { tools: {} },
        serverInfo: { name: "pings", version: "1" },
      },
      "tools/list": { tools: [{ name: "none", inputSchema: { type: "object" } }] },
    }[method];
    if (id === undefined) continue;
    const answer = result === undefined ? { error: { code: -32601, message: "no" } } : { result };
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
    if (method !== "tools/list") continue;
    process.stdin.removeListener("data", take).pause();
    ping();
  }
});

function ping() {
  const text = `${JSON.stringify({ jsonrpc: "2.0", id: "x".repeat(2_000), method: "ping" })}\n`;
  while (process.stdout.write(text));
  process.stdout.once("drain", ping);
}
