// What was seen of clients where a call needs a person's yes: a section of docs/clients.md.

import { markedCell } from "./cells.mjs";

/** @param {readonly import("./clients-page.mjs").SeenClient[]} seen */
export function askedTable(seen) {
  const head = [
    "| Client | Version | Asked | Yes | No | Nothing | Without a terminal | A lookup |",
    "|---|---|---|---|---|---|---|---|",
  ];
  return [...head, ...seen.flatMap(askedRow)].join("\n");
}

const ways = { terminal: "on its terminal, with a form", inbox: "in the gateway's inbox" };

function askedRow({ name, asking }) {
  if (asking === undefined) return [];
  const { version, way, answers, headless, lookup } = asking;
  const cells = ["yes", "no", "nothing"].map((wanted) => toAnswered(answers.find(({ answer }) => answer === wanted)));
  const alone = headless === undefined ? "-" : `in the inbox; after a yes there, ${toAnswered(headless)}`;
  return [`| ${[name, version, ways[way], ...cells, alone, toLookup(lookup)].map(markedCell).join(" | ")} |`];
}

function toLookup(lookup) {
  if (lookup === undefined) return "-";
  const other = lookup.other.replace(/^Wall time: [\d.]+ seconds\s*Output:\s*/, "");
  return `${lookup.ran.includes("read_notes") ? "ran" : "**did not run**"}; another call: \`${other}\``;
}

function toAnswered(answered) {
  if (answered === undefined) return "**not tried**";
  const { ran, state, read } = answered;
  const count = ran === 0 ? "never ran" : ran === 1 ? "ran once" : `ran ${ran} times`;
  const [code] = /APPROVAL_\w+/.exec(read ?? "") ?? [];
  return [count, ...(code === undefined ? [] : [`\`${code}\``]), ...(state === "waiting" ? ["still waits"] : [])].join(
    ", ",
  );
}

/**
 * @param {readonly import("./clients-page.mjs").SeenClient[]} seen
 * @returns {string}
 */
export const askedSection = (seen) => `${opening}\n\n${askedTable(seen)}\n\n${closing}`;

const opening = `## Where a call needs a person's yes

A model wants a note deleted, at a gateway with [its default settings](safety.md), and the client itself asks nothing. A script
types what a person would type (\`npm run clients -- --asked --write\`); the server writes down each run of its tool.

- *Asked*: on the client's terminal, where it can ask. Otherwise the answer tells the model the page and the command that decide, and to make
  the same call again: the script types \`toolyard approvals allow CODE\`, and the client is started once more.
- *Yes*, *No*, *Nothing*: what became of the call. With *Nothing*, a form is left open for 25 seconds and the client is closed; or the same call is made
  again without an answer in the inbox.
- *Without a terminal*: a client that can ask, started for one prompt. It answers by itself within milliseconds, which counts as no person's answer.
- *A lookup*: \`execute_read_only_mcp_tool\` in plan mode (Claude Code), and without a person and with default permissions (Codex, Copilot CLI).`;

const closing = `[What they showed, and what was typed](clients-transcript.md#a-call-that-needs-a-persons-yes). Codex with full access (\`--dangerously-bypass-approvals-and-sandbox\`)
declines a form with a required choice unseen, and would accept an empty one: the gateway's always has one required choice, whose default is no.
Claude Code is tried in its manual mode, because its default, auto mode, asks a service of its maker about each call.
VS Code, Cursor, Claude Desktop and Copilot's app have windows, and are not tried here.`;
