// A server that does not stay as it is: its list changes when it is told to, it ends in the middle of a call, it
// answers much, late, wrongly, and with texts that are never the same twice. Over stdio.
import { createInterface } from "node:readline";

const toolCount = Number(process.env.BENCH_TOOLS ?? 30);
/** How often the list has changed; no two processes begin alike. */
let version = process.pid;
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
/** Words of a language of two thousand: texts are never the same twice, and made of words that were there before. */
const parts = ["ba", "co", "di", "fu", "ga", "le", "mi", "no", "pu", "ra", "se", "to", "vi"];
const word = (number) => [0, 1, 2].map((at) => parts[Math.floor(number / parts.length ** at) % parts.length]).join("");
const unlike = (index) => [1, 2, 3].map((at) => word((index + 1) * 7_919 * version * at)).join(" ");

const tools = () => [
  ...["change", "crash", "large", "late", "fail", "echo"].map((name) => ({
    name,
    description: `Does ${name}`,
    inputSchema: { type: "object", properties: { text: { type: "string" } } },
  })),
  ...Array.from({ length: toolCount }, (_, index) => ({
    name: `tool_${index}_${version % 7}`,
    description: `Handles ${unlike(index)} of a folder, a message or a ticket, and says what came of it`,
    inputSchema: {
      type: "object",
      properties: {
        [`field_${version % 11}`]: { type: "string", description: unlike(index) },
        depth: { type: "integer" },
      },
    },
  })),
];

const calls = {
  change: () => {
    version += 1;
    send({ method: "notifications/tools/list_changed" });
    return `version ${version}`;
  },
  crash: () => process.exit(3),
  large: () => Array.from({ length: 6_000 }, (_, index) => `${index}: ${unlike(index)}, and so on`).join("\n"),
  fail: () => {
    throw new Error(`cannot: ${unlike(1)}`);
  },
};

function answer({ id, method, params }) {
  if (id === undefined) return;
  const result = (value) => send({ id, result: value });
  if (method === "initialize")
    return result({
      protocolVersion: params.protocolVersion,
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: "restless", version: "1" },
    });
  if (method === "tools/list") return result({ tools: tools() });
  if (method !== "tools/call") return send({ id, error: { code: -32601, message: "Method not found" } });
  try {
    const text = calls[params.name]?.() ?? JSON.stringify(params.arguments ?? {});
    const reply = () => result({ content: [{ type: "text", text }] });
    if (params.name === "late") setTimeout(reply, 1_500);
    else reply();
  } catch (error) {
    send({ id, error: { code: -32000, message: error.message } });
  }
}

createInterface({ input: process.stdin }).on("line", (line) => answer(JSON.parse(line)));
process.stdin.on("end", () => process.exit(0));
