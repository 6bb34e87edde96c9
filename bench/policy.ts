import { randomBytes } from "node:crypto";
import { noToolRules } from "../test/harness/fake-server.ts";
import { readFileSync } from "node:fs";
import { effectOfName, namedEffect } from "../src/catalog/model/effects.ts";
import { scanDefinition } from "../src/catalog/definitions/scan.ts";
import type { ToolEntry } from "../src/catalog/model/snapshot.ts";
import type { ToolEffect } from "../src/kernel/call/tool-effects.ts";
import { createFlowLabels } from "../src/engine/flows/flow-labels.ts";
import type { CallContext } from "../src/kernel/call/call-context.ts";
import { searchingSecrets } from "../src/engine/flows/secret-search.ts";
import { createKnownSecrets } from "../src/records/redaction/known-secrets.ts";
import { allSteps } from "../src/kernel/runtime/slices.ts";
import { decideCall, isOffered, type Deciding, type DecidingServer } from "../src/engine/policy/decide.ts";
import type { PolicyRule } from "../src/config/rows/rule-rows.ts";
import type { ServerSlug } from "../src/kernel/ids.ts";
import { printTable } from "./instances/table.ts";

/**
 * What it costs to decide whether a call asks a person, in microseconds of this thread, and how many tools of a real
 * list have which effect. `npm run bench bench/policy.ts [-- --corpus=FILE]`, where the file is a list of tools as
 * `{ tools: [{ name, inputSchema }] }`; without one, the tools of public servers that the tests have.
 */
const file = process.argv.find((argument) => argument.startsWith("--corpus="))?.slice(9);
const definitions = file === undefined ? readPublicTools() : readCorpus(file);

interface Listed {
  readonly name: string;
  readonly inputSchema: object;
}

function readPublicTools(): readonly Listed[] {
  const text = readFileSync("test/servers/public-tools.json", "utf8");
  return text.startsWith("[") ? (JSON.parse(text) as Listed[]) : readLines(text);
}

function readLines(text: string): readonly Listed[] {
  return (JSON.parse(text) as { readonly tools: readonly Listed[] }).tools;
}

function readCorpus(path: string): readonly Listed[] {
  return readLines(readFileSync(path, "utf8"));
}

const server: DecidingServer = {
  ...{ slug: "s" as ServerSlug, key: "s" },
  tools: noToolRules,
  annotations: "raise",
};
const principal = { roles: ["member"] };
const plainPolicy: Deciding = { server, principal, policy: { ask: ["destroy"], rules: [] } };
const callRules = Array.from({ length: 20 }, (_rule, at): PolicyRule => ({
  ...{ roles: [at % 2 === 0 ? "admin" : "member"], servers: ["prod-*", "s"], tools: [`*_pay_${at}`, `delete_${at}*`] },
  ...{ effects: ["destroy", "send"], then: at % 3 === 0 ? "deny" : "ask" },
}));
const manyRules: Deciding = { ...plainPolicy, policy: { ask: ["destroy"], rules: callRules } };
const pathRules: Deciding = {
  ...plainPolicy,
  policy: {
    ask: ["destroy"],
    rules: [...callRules, { tools: ["get_*"], when: { path: ["/etc/*", "/root/*"] }, then: "deny" }],
  },
};
const toTool = (name: string, inputSchema: object = { type: "object" }): ToolEntry =>
  ({
    upstreamName: name,
    path: `s:${name}`,
    server: "s",
    hash: name,
    definition: { name, inputSchema },
  }) as unknown as ToolEntry;

/** The least of several rounds: what other work of the machine adds is no cost of ours. */
function microseconds(times: number, run: () => void): number {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 7; round += 1) {
    const startMs = performance.now();
    for (let at = 0; at < times; at += 1) run();
    least = Math.min(least, ((performance.now() - startMs) * 1_000) / times);
  }
  return least;
}

const plain = toTool("get_issue");
const choosing = toTool("manage_rows", { type: "object", properties: { action: { enum: ["list", "add", "delete"] } } });
const filed = { path: "/home/ann/notes.txt", content: "text" };
const given = { action: "list", id: 7, rows: [{ a: 1 }, { a: 2 }] };
const fresh = (): void => {
  for (const { name, inputSchema } of definitions) namedEffect(name, { name, inputSchema } as ToolEntry["definition"]);
};
const scan = (): void => {
  for (const one of definitions) scanDefinition(one as unknown as ToolEntry["definition"], { has: () => false });
};
printTable(
  "microseconds",
  ["what", "took", "limit"],
  [
    [
      "a call that needs no question",
      microseconds(1_000_000, () => void decideCall(plain, plainPolicy, () => given)),
      0.1,
    ],
    [
      "the same with 20 rules about other tools",
      microseconds(1_000_000, () => void decideCall(plain, manyRules, () => given)),
      0.1,
    ],
    [
      "a call with a parameter that chooses",
      microseconds(200_000, () => void decideCall(choosing, plainPolicy, () => given)),
      1,
    ],
    ["the same with 20 rules", microseconds(200_000, () => void decideCall(choosing, manyRules, () => given)), 1],
    [
      "a call with a rule about an argument",
      microseconds(200_000, () => void decideCall(plain, pathRules, () => filed)),
      1,
    ],
    ["a view of a tool, with 20 rules", microseconds(1_000_000, () => void isOffered(plain, manyRules)), 0.1],
    ["a new definition", microseconds(5, fresh) / definitions.length, 160],
    ["looking through a new definition", microseconds(5, scan) / definitions.length, 160],
  ].map(([what, took, limit]) => [String(what), Number(took).toFixed(3), String(limit)]),
);
const secret = (at: number): string => `value-${at}-${randomBytes(18).toString("base64url")}`;
const thirty = createKnownSecrets(new Set(Array.from({ length: 30 }, (_, at) => secret(at))));
const text = JSON.stringify({ content: [{ type: "text", text: readFileSync("docs/safety.md", "utf8") }] });
const bytesOf = (size: number): Buffer => Buffer.from(text.repeat(Math.ceil(size / text.length)).slice(0, size));
const [kilobyte, megabyte] = [bytesOf(1_024), bytesOf(1_048_576)];
function look(bytes: Buffer, hasShapes: boolean): () => void {
  const search = { known: thirty, hasShapes, judge: () => undefined };
  return () => void allSteps(searchingSecrets(bytes, search));
}
const longestMs = (): number => {
  const work = searchingSecrets(megabyte, { known: thirty, hasShapes: true, judge: () => undefined });
  let longest = 0;
  for (let isDone = false; !isDone;) {
    const startMs = performance.now();
    isDone = work.next().done === true;
    longest = Math.max(longest, performance.now() - startMs);
  }
  return longest;
};
printTable(
  "secrets on their way, 30 values known",
  ["what", "took", "goal"],
  [
    ["own: 1 KB, microseconds", microseconds(20_000, look(kilobyte, false)), 11],
    ["patterns: 1 KB, microseconds", microseconds(20_000, look(kilobyte, true)), 15],
    ["patterns: 1 MB, milliseconds", microseconds(5, look(megabyte, true)) / 1_000, 14],
    ["the longest step of 1 MB, milliseconds", Math.min(...Array.from({ length: 7 }, longestMs)), 4],
  ].map(([what, took, goal]) => [String(what), Number(took).toFixed(3), String(goal)]),
);
const labels = createFlowLabels({ now: () => 0 });
const context = { principal: { id: "local" }, client: { name: "bench" }, via: "http" } as unknown as CallContext;
const rules = [{ after: "untrusted", effects: ["send", "destroy"], then: "ask" }] as const;
labels.note(context, ["untrusted"], "browser");
printTable(
  "flows, microseconds",
  ["what", "took"],
  [
    ["a call that no rule is about", () => void labels.applying(context, "read", rules)],
    ["a call that asks", () => void labels.applying(context, "send", rules)],
    ["a read that is noted", () => labels.note(context, ["untrusted"], "browser")],
  ].map(([what, act]) => [String(what), microseconds(100_000, act as () => void).toFixed(3)]),
);
const counts = new Map<ToolEffect, number>();
for (const { name } of definitions) {
  const { effect } = effectOfName(name);
  counts.set(effect, (counts.get(effect) ?? 0) + 1);
}
printTable(
  `effects of ${definitions.length} tools`,
  ["effect", "%"],
  [...counts].map(([effect, count]) => [effect, ((100 * count) / definitions.length).toFixed(1)]),
);
