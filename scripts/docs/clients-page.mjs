// docs/clients.md: what the command-line clients were seen to do (docs/clients.json, kept by scripts/clients.mjs),
// and the table of client profiles in src/config/rows/client-profiles.ts.

import { askedSection } from "./asked-section.mjs";
import { markedCell as cell } from "./cells.mjs";

/**
 * One client as it was seen.
 * @typedef {object} SeenClient
 * @property {string} name
 * @property {string} package
 * @property {string} setup
 * @property {string} [needs]
 * @property {string} [allow] what lets it call our tools without a person
 * @property {string | null} version
 * @property {string} [tried] the day
 * @property {string | null} clientName
 * @property {string | null} revision
 * @property {readonly string[]} api
 * @property {readonly string[]} own its own tools for resources, of the names that ours have
 * @property {number} others how many other tools its model was offered
 * @property {readonly string[]} offered which of ours, in the first request
 * @property {readonly string[]} [offeredAllowed] the same with `allow`, where it makes a difference
 * @property {readonly string[]} offeredWithout the same without its row in the table of profiles
 * @property {readonly string[]} behind what its model has for finding tools that are not offered
 * @property {string | null} called "yes", or what came back instead
 * @property {Waited | null} waited
 * @property {string | null} asked
 * @property {{ characters: number, of: number, isTold: boolean } | null} reached of a large result
 * @property {readonly string[]} problems
 * @property {{ known?: string, done: readonly string[], said?: string, failure?: string }} [team] what it did where
 *   people log in
 * @property {import("../clients/asked/asked-trial.mjs").Asking} [asking] what it did where a call needs a person's yes
 * @property {readonly import("../clients/transcript.mjs").Transcript[]} [transcripts]
 *
 * @typedef {{ seconds: number, arrived: boolean, lostAfter?: number | null, said?: string }} Waited
 *
 * @typedef {{ product: string, reason: string, toolMeta: object, ownResourceTools: boolean,
 *   splitExecute?: boolean, maxResultTokens?: number }} ProfileRow
 */

const shortNames = {
  discover_mcp_tools: "discover",
  execute_mcp_tool: "execute",
  list_mcp_resources: "list",
  read_mcp_resource: "read",
};

/** @param {readonly SeenClient[]} seen */
export function seenTable(seen) {
  const head = [
    "| Client | Version | Offered | Called | Waited | Asked | Cut: of a large result, its model read |",
    "|---|---|---|---|---|---|---|",
  ];
  return [...head, ...seen.map(seenRow)].join("\n");
}

function seenRow(seen) {
  const { name, version, problems } = seen;
  const cells = [toOffered(seen), toCalled(seen), toWaited(seen), seen.asked ?? "-", toCut(seen)];
  const failed = problems.length === 0 ? [] : [`**failed**: ${problems.join("; ")}`];
  return `| ${[name, version ?? "-", ...(version === null ? failed : cells)].map(cell).join(" | ")} |`;
}

const toNames = (tools) => tools.map((tool) => shortNames[tool]).join(", ") || "none";

function toOffered({ offered, offeredAllowed, behind, others }) {
  if (offeredAllowed !== undefined) return `${toNames(offered)}; once allowed: ${toNames(offeredAllowed)}`;
  if (offered.length > 0) return `${toNames(offered)} (beside ${others})`;
  return `**none**${behind.length === 0 ? "" : `: behind \`${behind.join("`, `")}\``}`;
}

function toCalled({ called, allow, offered }) {
  if (called === "yes") return "yes";
  const why = called === null ? (offered.length === 0 ? "not offered" : "not called") : `refused (\`${called}\`)`;
  return allow === undefined ? why : `${why}; needs ${allow}`;
}

function toWaited({ waited }) {
  if (waited === null) return "-";
  const { seconds, arrived, lostAfter, said } = waited;
  return arrived ? `${seconds} s` : `**lost** after ${lostAfter ?? "-"} s of ${seconds}: \`${said}\``;
}

function toCut({ reached }) {
  if (reached === null) return "-";
  const { characters, of, isTold } = reached;
  if (characters === of) return "all";
  const share = `${thousands(characters)} of ${thousands(of)} characters`;
  return `${share}, ${isTold ? "and how to read on" : "**and not how to read on**"}`;
}

const thousands = (count) => String(count).replaceAll(/(?<=\d)(?=(?:\d{3})+$)/g, ",");

/** What they say of themselves, and what the table of profiles does for them. */
function identityTable(seen) {
  const head = [
    "| Client | `clientInfo.name` | Revision | Offered without a row | Resource tools of its own | Model API |",
    "|---|---|---|---|---|---|",
  ];
  return [...head, ...seen.map(identityRow)].join("\n");
}

function identityRow({ name, clientName, revision, offeredWithout, own, api }) {
  const cells = [
    name,
    clientName === null ? "-" : `\`${clientName}\``,
    revision ?? "-",
    toNames(offeredWithout),
    own.length === 2 ? "yes" : "no",
    api.join(", ") || "-",
  ];
  return `| ${cells.map(cell).join(" | ")} |`;
}

const teamSteps = ["loggedIn", "called", "renewed", "restarted", "shutOut"];

/** @param {readonly SeenClient[]} seen */
export function teamTable(seen) {
  const head = [
    "| Client | Version | Known by | Logged in | Called a tool | Renewed, three at once | After a restart | Shut out: it says |",
    "|---|---|---|---|---|---|---|---|",
  ];
  return [...head, ...seen.flatMap(teamRow)].join("\n");
}

function teamRow({ name, version, team }) {
  if (team === undefined) return [];
  const { known, done, said, failure } = team;
  const next = teamSteps[done.length];
  const verdicts = teamSteps.map((step) => {
    if (step === next) return failure ?? "no";
    if (!done.includes(step)) return "-";
    return step === "shutOut" ? `\`${said}\`` : "yes";
  });
  const knownBy = { document: "its document", registration: "registering" }[known] ?? "-";
  return [`| ${[name, version ?? "-", knownBy, ...verdicts].map(cell).join(" | ")} |`];
}

/**
 * @param {Readonly<Record<string, ProfileRow>>} profiles
 * @param {readonly SeenClient[]} seen
 * @returns {string} the page
 */
export function clientsPage(profiles, seen) {
  const notes = seen.flatMap(({ name, needs: text }) => (text === undefined ? [] : [`- **${name}** ${text}`]));
  const setups = seen.map(({ name, package: packageName, setup }) => `- ${name} (\`${packageName}\`): ${setup}`);
  const rows = Object.entries(profiles).map(profileRow);
  return `${opening}
${seenTable(seen)}

${between}
${identityTable(seen)}

What [Claude Code and Codex read and wrote](clients-transcript.md) in this trial.

${setupOpening}
${setups.join("\n")}

Notes:

${notes.join("\n")}

${teamOpening}

${teamTable(seen)}

${teamClosing}

${askedSection(seen)}

${profilesOpening}
${rows.join("\n")}

${closing}`;
}

function profileRow([name, { product, reason, toolMeta, ownResourceTools, splitExecute, maxResultTokens }]) {
  const gets = [
    ...(splitExecute === true ? ["`execute_read_only_mcp_tool` as well"] : []),
    ...(ownResourceTools ? ["our `list_mcp_resources` and `read_mcp_resource` are not listed"] : []),
    ...Object.entries(toolMeta).map(([tool, meta]) => {
      const whose = tool === "*" ? "`_meta` of every tool" : `of \`${tool}\``;
      return `${whose}: \`${JSON.stringify(meta)}\``;
    }),
    ...(maxResultTokens === undefined ? [] : [`results of at most ${maxResultTokens} tokens`]),
  ];
  return `| \`${name}\` | ${cell(product)} | ${cell(gets.join("; "))} | ${cell(reason)} |`;
}

const opening = `# Clients

<!-- Made by scripts/write-docs.mjs from docs/clients.json and src/config/rows/client-profiles.ts. Do not edit. -->

## Observed behaviour

\`npm run clients -- --write\` takes the newest version of each from npm, connects it with \`toolyard connect\` to a gateway over Streamable HTTP, beside
three other MCP servers with a hundred tools, and gives it a model that follows a script. Settings and permissions are its defaults, and
no person is present. The answers that reach the model are compared with the servers' contents.

- *Offered*: which of the four tools were in the first request to its model, and how many other tools were beside them. A client that stops
  offering them fails the trial.
- *Called*: whether a call of a server behind the gateway ran; otherwise the text that the model read instead, and the setting that lets it run.
- *Waited*: whether a call that took this long, without a message from the server, succeeded.
- *Asked*: the client's answer to an elicitation without a person, if it declared that it can be asked.
- *Cut*: how much of a text of 90,000 characters was in what its model read.

The last three are observed with the setting named under *Called*.
`;

const between = `How they present themselves, what they get without their row in the table of profiles below, and whether their models already have tools named
\`list_mcp_resources\` and \`read_mcp_resource\`:
`;

const setupOpening = `How each was made to work without an account:
`;

const teamOpening = `## Where people log in

Those that have a command for logging in are tried with a gateway for teams ([people and teams](teams.md)) in the same run. \`toolyard connect\`
gives them the address and no token, their own command opens a browser, and a script agrees in place of a person. Then each calls a tool, does so
in three processes simultaneously with an access token that is too old, does so again after the gateway was restarted, and once more after its
person has revoked its access, which has to fail. *Known by* is how the gateway came to know the client: by a document that the client names
(client ID metadata document; the machine of the test has no Internet, so that the gateway used what it knows of it), or because it registered itself.`;

const teamClosing = `The same is done in the tests, with twenty simultaneous processes, for apps with the official SDKs (\`@modelcontextprotocol/client\` and
\`@modelcontextprotocol/sdk\`), and with three for \`mcp-remote\`, which also logs in with the code of a terminal without a browser; its consent is
given in Chromium. Gemini CLI and Qwen Code log in from within a session (\`/mcp auth\`), Copilot CLI, VS Code, Cursor and Claude Desktop with a person in front
of them: these have not been tried. What VS Code and Cursor register is known from public reports and tested as such.`;

const profilesOpening = `## The table of profiles

The needs of clients beyond the protocol, by the name that each gives itself (\`clientInfo.name\`). The table changes only how the four tools are
listed at \`/mcp\` and \`/mcp/meta\`, whether [a fifth](safety.md#clients-that-ask-themselves) is with them, and from which size on a result is cut, never what may be called: a tool that is not listed still answers. A client that is not in the table gets the four tools as they are. A session
keeps the list that it began with, also when the configuration changes. Behind mcp-remote (\`name (via mcp-remote …)\`) a client is
known by its own name.

| \`clientInfo.name\` | Client | What it gets | Why |
|---|---|---|---|`;

const closing = `The configuration changes rows, field by field, and adds new ones. A name that ends in \`*\` matches all names with that beginning; the longest wins.

\`\`\`json
{
  "toolyard": {
    "clients": {
      "my-agent": { "toolMeta": { "*": { "my-agent/pinned": true } } },
      "my-family-*": { "ownResourceTools": true },
      "opencode": { "ownResourceTools": false }
    }
  }
}
\`\`\`

- \`toolMeta\`: the contents of \`_meta\` of the four tools, by tool; \`*\` is every one of them. It replaces the row's.
  In texts of \`discover_mcp_tools\`, \`{servers}\` stands for the servers that the client may use and what these are about.
- \`ownResourceTools\`: the client's model has tools named \`list_mcp_resources\` and \`read_mcp_resource\` already, so ours stay out of its list.
- \`splitExecute\`: the list also has \`execute_read_only_mcp_tool\`, through which the gateway lets only those calls pass that read, and searches mark
  such tools with \`readOnly: true\`. \`false\` takes it away, \`true\` gives it to a client that asks about everything else.
- \`maxResultTokens\`: the most tokens of one result that the client gives its model, if that is less than \`results.maxTokens\`. Clients put
  the rest into a file or drop it, each in its own way: then the model is not told how to read on ([why](design.md#results-that-are-too-large-for-a-model)).

Clients with resource tools of their own use the gateway's native resources, so every resource has one native URI
(\`toolyard://server/...\`, \`ui://server/...\`) wherever it is listed: natively as \`uri\`, in \`list_mcp_resources\` and \`GET /api/resources\` as \`native_uri\`
beside \`server|uri\`. Both spellings are read by \`read_mcp_resource\`, \`resources/read\` and \`GET /api/resources/read\`, and so is the server's own URI while exactly one server lists it.
`;
