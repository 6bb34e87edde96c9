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
  const days = seen.flatMap(({ tried, transcripts, asking }) => [
    ...(transcripts === undefined ? [] : [tried ?? ""]),
    ...(asking === undefined ? [] : [asking.tried]),
  ]);
  const asked = seen.flatMap(toAskedSections);
  return `${opening(days.sort().at(-1))}\n${sections.join("\n\n")}\n\n${[askedOpening, ...asked].join("\n\n")}\n`;
}

const askedWords = { yes: "yes", no: "no", nothing: "no answer" };

/** What the person saw and typed, and what the model read. */
function toAskedSections({ name, asking }) {
  if (asking === undefined) return [];
  const { version, way, answers, headless } = asking;
  const sections = answers.map((answered) => [
    `### ${name} ${version}: ${askedWords[answered.answer]}`,
    ...(way === "terminal" ? onTerminal(answered) : inInbox(answered)),
    ...ending(answered),
  ]);
  if (headless !== undefined)
    sections.push([`### ${name} ${version}: without a terminal`, ...inInbox(headless), ...ending(headless)]);
  return sections.map((parts) => parts.join("\n\n"));
}

function onTerminal({ shown: [form, typed, still] }) {
  return [
    `It shows:\n\n${fenced("screen", form)}`,
    still === undefined
      ? `Typed: ${typed}.`
      : still === form
        ? "25 seconds later it shows the same."
        : `25 seconds later:\n\n${fenced("screen", still)}`,
  ];
}

function inInbox({ readFirst, shown }) {
  return [
    `The model reads:\n\n${fenced("text", readFirst ?? "")}`,
    ...(shown.length === 0
      ? ["Nobody decides. The same call again:"]
      : [`The person types:\n\n${shown.map((one) => fenced("text", one)).join("\n\n")}`, "The same call again:"]),
  ];
}

function ending({ read, ran, state }) {
  return [
    read === null ? "The client is closed; its model read nothing." : `The model reads:\n\n${fenced("text", read)}`,
    `In the server's journal: ${ran === 0 ? "no run" : ran === 1 ? "one run" : `${ran} runs`}. In the inbox: \`${state}\`.`,
  ];
}

const askedOpening = `## A call that needs a person's yes

The model calls \`notes:delete_notes\` with \`{ "id": 7 }\`, and the client is allowed to call all our tools without a question of its own.`;

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

const opening = (day) => `# Calls in real clients

<!-- Made by scripts/write-docs.mjs from docs/clients.json. Do not edit. -->

What the models of [clients](clients.md) read and wrote in \`npm run clients\`: with their default settings, the entry that \`toolyard connect\` wrote,
and three other MCP servers beside the gateway, each without a person and then with the one thing that lets them call without one. Below that, what
a person sees and types where [a call needs a yes](#a-call-that-needs-a-persons-yes). The model is a script; everything that it reads is real. Long answers end with "…".
The last of them was made on ${day}.
`;
