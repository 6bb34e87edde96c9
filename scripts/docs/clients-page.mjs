// docs/clients.md: what the command-line clients were seen to do (docs/clients.json, kept by scripts/clients.mjs),
// and the table of client profiles in src/config/client-profiles.ts.

/**
 * One client as it was seen.
 * @typedef {object} SeenClient
 * @property {string} name
 * @property {string} package
 * @property {string} setup
 * @property {string} [needs]
 * @property {string | null} version
 * @property {string | null} clientName
 * @property {string | null} revision
 * @property {readonly string[]} offered
 * @property {readonly string[]} offeredWithout
 * @property {readonly string[]} own
 * @property {readonly string[]} api
 * @property {readonly string[]} problems
 * @property {{ known?: string, done: readonly string[], said?: string, failure?: string }} [team] what it did where
 *   people log in
 *
 * @typedef {{ product: string, reason: string, toolMeta: object, ownResourceTools: boolean,
 *   maxResultTokens?: number }} ProfileRow
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
    "| Client | Version | `clientInfo.name` | Revision | Offered without a row | Offered as it is | Did | Model API |",
    "|---|---|---|---|---|---|---|---|",
  ];
  return [...head, ...seen.map(seenRow)].join("\n");
}

function seenRow({ name, version, clientName, revision, offeredWithout, offered, own, api, problems }) {
  const names = (tools) => tools.map((tool) => shortNames[tool]).join(", ") || "none";
  const both = own.length === 2;
  const did = both ? "discovered, executed; listed and read with its own tools" : "discovered, executed";
  const cells = [
    name,
    version ?? "-",
    clientName === null ? "-" : `\`${clientName}\``,
    revision ?? "-",
    names(offeredWithout),
    names(offered),
    problems.length === 0 ? did : problems.join("; "),
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
${setups.join("\n")}

What is left to do, or to know:

${notes.join("\n")}

${teamOpening}

${teamTable(seen)}

${teamClosing}

${profilesOpening}
${rows.join("\n")}

${closing}`;
}

function profileRow([name, { product, reason, toolMeta, ownResourceTools, maxResultTokens }]) {
  const gets = [
    ...(ownResourceTools ? ["our `list_mcp_resources` and `read_mcp_resource` are not listed"] : []),
    ...Object.entries(toolMeta).map(([tool, meta]) => {
      const whose = tool === "*" ? "`_meta` of every tool" : `of \`${tool}\``;
      return `${whose}: \`${JSON.stringify(meta)}\``;
    }),
    ...(maxResultTokens === undefined ? [] : [`results of at most ${maxResultTokens} tokens`]),
  ];
  return `| \`${name}\` | ${cell(product)} | ${cell(gets.join("; "))} | ${cell(reason)} |`;
}

const cell = (text) => text.replaceAll("|", "\\|").replaceAll("\n", " ");

const opening = `# Clients

<!-- Made by scripts/write-docs.mjs from docs/clients.json and src/config/client-profiles.ts. Do not edit. -->

## What they were seen to do

\`npm run clients -- --write\` takes the newest version of each from npm, connects it to a gateway over Streamable HTTP, and gives it a model that
follows a script: find a tool, call it, and, where the client has resource tools of its own, list and read with those. What came back to
the model is compared with what the gateway itself answers. *Offered* is which of the four tools stood in the client's request to its model,
without and with its row in the table below.
`;

const between = `How each was made to work without an account:
`;

const teamOpening = `## Where people log in

Those that have a command for logging in are tried with a gateway for teams ([people and teams](teams.md)) in the same run. \`toolyard connect\`
gives them the address and no token, their own command opens a browser, and a script that is its person agrees there. Then each calls a tool, does so
in three processes at once with an access token that is too old, does so again after the gateway was restarted, and once more after its
person has taken its access back, which has to fail. *Known by* is how the gateway came to know the client: by a document that the client names
(client ID metadata document; the machine of the test has no Internet, so that the gateway used what it knows of it), or because it registered itself.`;

const teamClosing = `The same is done in the tests, with twenty processes at once, for apps with the official SDKs (\`@modelcontextprotocol/client\` and
\`@modelcontextprotocol/sdk\`), and with three for \`mcp-remote\`, which also logs in with the code of a terminal without a browser; its consent is
given in Chromium. Gemini CLI and Qwen Code log in from within a session (\`/mcp auth\`), Copilot CLI, VS Code, Cursor and Claude Desktop with a person in front
of them: these have not been tried. What VS Code and Cursor register is known from public reports and tested as such.`;

const profilesOpening = `## The table of profiles

What a client needs beyond the protocol, by the name that it gives itself (\`clientInfo.name\`). The table changes only how the four tools are
listed at \`/mcp\` and \`/mcp/meta\`, and from which size on a result is cut, never what may be called: a tool that is not listed still answers. A client that is not in the table gets the four tools as they are. A session
keeps the list that it began with, also when the configuration changes. Behind mcp-remote (\`name (via mcp-remote …)\`) a client is
known by its own name.

| \`clientInfo.name\` | Client | What it gets | Why |
|---|---|---|---|`;

const closing = `The configuration changes rows, field by field, and adds new ones. A name that ends in \`*\` stands for all that begin so; the longest wins.

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

- \`toolMeta\`: what stands in \`_meta\` of the four tools, by tool; \`*\` is every one of them. It replaces the row's.
  In texts of \`discover_mcp_tools\`, \`{servers}\` stands for the servers that the client may use and what these are about.
- \`ownResourceTools\`: the client's model has tools named \`list_mcp_resources\` and \`read_mcp_resource\` already, so ours stay out of its list.
- \`maxResultTokens\`: the most tokens of one result that the client gives its model, where that is less than \`results.maxTokens\`. What is more,
  clients put into a file or drop, each in its own way: then the model is not told how to read on ([why](design.md#results-that-are-too-large-for-a-model)).

Clients with resource tools of their own use the gateway's native resources, so every resource has one native URI
(\`toolyard://server/...\`, \`ui://server/...\`) wherever it is listed: natively as \`uri\`, in \`list_mcp_resources\` and \`GET /api/resources\` as \`native_uri\`
beside \`server|uri\`. Both spellings are read by \`read_mcp_resource\`, \`resources/read\` and \`GET /api/resources/read\`, and so is the server's own URI while exactly one server lists it.
`;
