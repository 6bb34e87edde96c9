// A server that writes down each effect, with the process that had it: `EFFECTS` is the file. It counts, so that two
// processes of it have two states; it sleeps, asks, reports progress, and announces changes of its list. With a name in
// `INSTANCE`, each line has it, and each process begins with a line: their order is the order of time.
// With `STUBBORN`, it ends what it works on before it ends itself.
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const { EFFECTS, INSTANCE, STUBBORN } = process.env;
if (STUBBORN !== undefined) process.on("SIGTERM", () => undefined);
let count = 0;
let asked = 0;
let extra = false;
const waiting = new Map();
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const text = (value) => ({
  content: [{ type: "text", text: typeof value === "string" ? value : JSON.stringify(value) }],
});
const tool = (name, properties = {}) => ({
  name,
  description: `Does ${name}`,
  inputSchema: { type: "object", properties },
});
const tools = () => [
  tool("count"),
  tool("note", { id: { type: "string" }, ms: { type: "number" } }),
  tool("sleep", { ms: { type: "number" }, id: { type: "string" } }),
  tool("big", { bytes: { type: "number" }, ms: { type: "number" } }),
  tool("size", { text: { type: "string" } }),
  tool("progress", { steps: { type: "number" } }),
  tool("confirm"),
  tool("survey", {
    rounds: { type: "number" },
    bytes: { type: "number" },
    id: { type: "string" },
    ms: { type: "number" },
  }),
  tool("grow"),
  tool("die"),
  ...(extra ? [tool("grown")] : []),
];

function note(id) {
  write({ id });
}

function write(about) {
  const line = { ...about, ...(INSTANCE && { instance: INSTANCE }), pid: process.pid, at: Date.now() };
  if (EFFECTS !== undefined) appendFileSync(EFFECTS, `${JSON.stringify(line)}\n`);
}

if (INSTANCE !== undefined) write({ began: process.ppid });

/** Resolves to the client's answer. */
async function ask() {
  asked += 1;
  const id = `q${asked}`;
  const schema = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };
  send({ id, method: "elicitation/create", params: { message: "Really?", requestedSchema: schema } });
  return await new Promise((resolve) => waiting.set(id, resolve));
}

const calls = {
  count: () => text({ count: (count += 1), pid: process.pid }),
  async note({ id, ms }) {
    note(id);
    process.stderr.write(`noted ${id}\n`);
    if (ms !== undefined) await new Promise((resolve) => setTimeout(resolve, ms));
    return text({ id, pid: process.pid });
  },
  async sleep({ ms, id }, { signal }) {
    note(`began ${id}`);
    await new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      signal.addEventListener("abort", () => {
        clearTimeout(timer);
        note(`cancelled ${id}`);
        resolve();
      });
    });
    if (!signal.aborted) note(id);
    return text({ id, pid: process.pid });
  },
  async big({ bytes, ms = 0 }) {
    await new Promise((resolve) => setTimeout(resolve, ms));
    return text("x".repeat(bytes));
  },
  size: (given) => text(`${given.text.length}`),
  async progress({ steps }, { token }) {
    for (let progress = 1; progress <= steps; progress += 1)
      if (token !== undefined)
        send({ method: "notifications/progress", params: { progressToken: token, progress, total: steps } });
    return text({ steps });
  },
  async confirm() {
    return text({ answer: await ask(), pid: process.pid });
  },
  /** Asks several times, reports each answer, and answers with as much as was wanted. */
  async survey({ rounds, bytes, id, ms = 0 }, { token, signal }) {
    for (let progress = 1; progress <= rounds; progress += 1) {
      const { action } = await ask();
      const message = `round ${progress}: ${action}`;
      if (token !== undefined)
        send({ method: "notifications/progress", params: { progressToken: token, progress, total: rounds, message } });
    }
    if (ms > 0) return await calls.sleep({ ms, id }, { signal });
    note(id);
    return text("x".repeat(bytes));
  },
  grow() {
    extra = true;
    send({ method: "notifications/tools/list_changed" });
    return text({ grown: true });
  },
  die: () => process.exit(3),
};

const running = new Map();
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params, result } = JSON.parse(line);
  if (method === undefined) waiting.get(id)?.(result);
  else if (method === "initialize")
    send({
      id,
      result: {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: "effects", version: "1" },
      },
    });
  else if (method === "tools/list") send({ id, result: { tools: tools() } });
  else if (method === "ping") send({ id, result: {} });
  else if (method === "notifications/cancelled") running.get(params.requestId)?.abort();
  else if (method === "tools/call") {
    const controller = new AbortController();
    running.set(id, controller);
    const about = { signal: controller.signal, token: params._meta?.progressToken };
    void Promise.resolve(calls[params.name](params.arguments ?? {}, about)).then((answer) => {
      running.delete(id);
      send({ id, result: answer });
    });
  } else if (id !== undefined) send({ id, error: { code: -32601, message: `no ${method}` } });
}
