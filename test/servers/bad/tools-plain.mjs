// Tools that behave: what a test compares the others with, and how it looks inside the process.

import { existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

/** Says which process answered: proof that a name was routed to the right place. */
export function canary(exchange) {
  const { server, params } = exchange;
  const seen = {
    server: server.info.name,
    tool: params.name,
    instance: server.instance,
    pid: process.pid,
  };
  exchange.answer({
    content: [{ type: "text", text: JSON.stringify(seen) }],
    structuredContent: seen,
  });
}

const reportOnce = ({ notify, params }, progress) =>
  notify("notifications/progress", { progressToken: params._meta?.progressToken, ...progress });

const readOnly = { readOnlyHint: true };
const idempotent = { idempotentHint: true };

/** @type {Record<string, import("./tools.mjs").Tool>} */
export const plainTools = {
  echo: {
    description: "Returns its arguments, byte for byte, as text and as structuredContent",
    annotations: readOnly,
    run({ argumentsText, answer }) {
      answer(
        `{"content":[{"type":"text","text":${JSON.stringify(argumentsText)}}],"structuredContent":${argumentsText}}`,
      );
    },
  },
  canary: {
    description: "Returns server, tool, instance (random per process) and pid",
    annotations: readOnly,
    run: canary,
  },
  env: { description: "Returns its environment", run: ({ say }) => say(process.env) },
  argv: {
    description: "Returns its arguments and working directory",
    run: ({ say }) => say({ argv: process.argv.slice(2), cwd: process.cwd() }),
  },
  pid: {
    description: "Returns its process id",
    run: ({ say }) => say({ pid: process.pid, parent: process.ppid }),
  },
  meta: {
    description: "Returns the _meta of the request",
    run: ({ say, params }) => say(params._meta ?? {}),
  },
  headers: {
    description: "Returns the HTTP headers of the request, if there are any",
    inputSchema: {
      type: "object",
      properties: { region: { type: "string", "x-mcp-header": "Region" } },
    },
    run: ({ say, wire }) => say(wire.headers ?? {}),
  },
  calls: {
    description: "Returns how many calls this process has had",
    run: ({ say, server }) => say({ calls: server.calls }),
  },
  "in-flight": {
    description: "Returns how many requests are under way",
    run: ({ say, server }) => say({ inFlight: server.inFlight.size }),
  },
  remember: {
    description: "Keeps `value` for this session",
    run({ say, wire, args }) {
      wire.session.memory.set("value", args.value);
      say("remembered");
    },
  },
  recall: {
    description: "Returns what this session was told to remember",
    run: ({ say, wire }) => say({ value: wire.session.memory.get("value") ?? null, session: wire.session.id }),
  },
  hang: { description: "Never answers", run: () => {} },
  "hang-read-only": {
    description: "Never answers, and says that it is read-only",
    annotations: readOnly,
    run: () => {},
  },
  slow: {
    description:
      "Answers after `ms` (default 1000), or when the file `until` exists; reports `progress` (an object) before; `words` more",
    async run(exchange) {
      const { say, args, wire } = exchange;
      if (args.progress !== undefined) await reportOnce(exchange, args.progress);
      if (args.until !== undefined) {
        while (!wire.gone.aborted && !existsSync(args.until)) await delay(20);
        return say({ found: args.until, text: "late ".repeat(args.words ?? 0) });
      }
      await delay(args.ms ?? 1_000, undefined, { signal: wire.gone }).then(
        () => say({ waitedMs: args.ms ?? 1_000 }),
        () => {},
      );
    },
  },
  fail: {
    description: "Returns isError with `text`",
    run: ({ answer, args }) =>
      answer({ content: [{ type: "text", text: args.text ?? "failed, as asked" }], isError: true }),
  },
  "rpc-error": {
    description: "Answers with the JSON-RPC error `code`, `message`, `data`; over HTTP with `status`",
    run: ({ fail, args }) => fail(args.code ?? -32603, args.message ?? "failed, as asked", args.data, args.status),
  },
  "fail-once": {
    description: "Ends the process at the first call of `file`, answers once that file exists; declared idempotent",
    annotations: idempotent,
    async run(exchange) {
      const { existsSync, writeFileSync } = await import("node:fs");
      if (existsSync(exchange.args.file)) return canary(exchange);
      writeFileSync(exchange.args.file, "seen");
      process.exit(1);
    },
  },
  structured: {
    description: "Returns structuredContent that fits its outputSchema",
    outputSchema: countSchema(),
    run: ({ answer }) => answer({ content: [{ type: "text", text: '{"count":3}' }], structuredContent: { count: 3 } }),
  },
  strict: {
    description: "Needs `name` (string) and `count` (integer), takes nothing else",
    inputSchema: {
      type: "object",
      properties: { name: { type: "string" }, count: { type: "integer", minimum: 1 } },
      required: ["name", "count"],
      additionalProperties: false,
    },
    run: ({ say, args }) => say(args),
  },
};

function countSchema() {
  return { type: "object", properties: { count: { type: "number" } }, required: ["count"] };
}
