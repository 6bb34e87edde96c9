// docs/clients-transcript.md: what the models of some clients read and wrote while they found and called a tool of a
// server behind the gateway, as scripts/clients.mjs kept it in docs/clients.json.

/**
 * @param {readonly import("./clients-page.mjs").SeenClient[]} seen
 * @returns {string} the page
 */
export function clientsTranscriptPage(seen) {
  const sections = seen.flatMap(({ name, version, transcripts = [] }) =>
    transcripts.map((transcript) => toSection(`${name} ${version ?? ""}`, transcript)),
  );
  const days = seen.flatMap(({ tried, transcripts }) => (transcripts === undefined ? [] : (tried ?? [])));
  return `${opening(days.sort().at(-1))}\n${sections.join("\n\n")}\n`;
}

/** @param {import("../clients/transcript.mjs").Transcript} transcript */
function toSection(client, { started, ours, others, calls }) {
  const names = ours.length === 0 ? "none of ours" : ours.map((name) => `\`${name}\``).join(", ");
  const steps = calls.map(
    ({ tool, input, answer }) => `The model calls \`${tool}\`:

${fenced("json", JSON.stringify(input, undefined, 2))}

and reads:

${fenced("text", answer)}`,
  );
  return [
    `## ${client}, ${started}`,
    `Offered in the first request: ${names}, and ${others} other tools.`,
    ...steps,
  ].join("\n\n");
}

/** With a fence that the text itself does not have. */
function fenced(language, text) {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.trimEnd()}\n${fence}`;
}

const opening = (day) => `# A tool found and called

<!-- Made by scripts/write-docs.mjs from docs/clients.json. Do not edit. -->

What the models of [clients](clients.md) read and wrote in \`npm run clients\`: with their default settings, the entry that \`toolyard connect\` wrote,
and three other MCP servers beside the gateway, each without a person and then with the one thing that lets them call without one. The model is a
script; everything that it reads is real. Long answers end with "…".
The last of them was made on ${day}.
`;
