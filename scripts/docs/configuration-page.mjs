// docs/configuration.md from the tables of settings and of the fields of a server's entry.
import { rowTable, sentence } from "./setting-words.mjs";

/** @type {import("./configuration-page.d.mts").configurationPage} */
export function configurationPage({ settingsTable, foreignNamespaceRows }, fields) {
  return [
    opening,
    "## Settings\n\nMembers of the `toolyard` object.\n",
    rowTable(settingsTable),
    ...sections("toolyard", settingsTable),
    "## Servers\n",
    "Members of an entry of `mcpServers`. The key is the server's name.\n",
    "### How it is reached\n",
    rowTable(fields.transportFields),
    "### Other fields\n",
    rowTable({ ...fields.ownFields, ...fields.plainFields }),
    ...sections("", { ...fields.transportFields, ...fields.ownFields, ...fields.plainFields }),
    "### Spellings of other clients\n",
    "Accepted as they are. A tool that one list switches off is off, even if another list offers it.\n",
    rowTable({ ...fields.foreignTransportFields, ...fields.foreignToolFields, tools: fields.listedTools }),
    `Accepted without a warning, and without effect: ${fields.meaninglessFields.map((name) => `\`${name}\``).join(", ")}.\n`,
    "## Other spellings of settings\n",
    "`namespaceSupport` and `performance` may be in the `toolyard` object or beside it. `namespaces` takes precedence.\n",
    ...sections("", foreignNamespaceRows),
  ].join("\n");
}

/** A section for each object among the rows, and for those inside it. */
function sections(above, rows) {
  return Object.entries(rows).flatMap(([name, member]) => {
    if (member.kind === "row") return [];
    const path = [above, name, ...(member.kind === "keyed" ? [member.key] : [])]
      .filter((part) => part !== "")
      .join(".");
    return [`### ${path}\n`, `${sentence(member.about)}\n`, rowTable(member.rows), ...sections(path, member.rows)];
  });
}

const opening = `# Configuration

<!-- Made by scripts/write-docs.mjs from src/config/settings/settings-table.ts and src/config/entry/server-fields.ts. Do not edit. -->

One JSON file: \`mcpServers\`, as every client writes it, and beside it our own settings under \`toolyard\`. Comments,
trailing commas and a byte-order mark are fine. [design.md](design.md#configuration) says how a wrong file is handled,
and [cli.md](cli.md) which file is read.

\`\`\`json
{
  "$schema": "./node_modules/toolyard/docs/toolyard.schema.json",
  "mcpServers": {
    "files": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "."] },
    "remote": { "type": "http", "url": "https://mcp.example.com/mcp", "headers": { "Authorization": "Bearer \${TOKEN}" } }
  },
  "toolyard": { "port": 3001 }
}
\`\`\`

- A flag takes precedence over its variable, the variable over the file, and the file over the default. An empty variable
  counts as unset.
- \`\${VAR}\`, \`\${env:VAR}\` and \`\${VAR:-default}\` are replaced in every text ([keys of servers](keys.md)). In a server's
  entry, each means the entry's own \`env\` first, then its \`envFile\`, then the gateway's environment.
- In a server's entry, null, an empty text and an empty list or object in the wrong place count as absent.
- A whole command line in \`command\`, such as \`npx -y pkg\`, is split into words as in a shell, with a warning,
  unless there is a program of that name. A list of words, as opencode writes it, is accepted as well.
- Relative paths start at the file's folder.
- A changed file is applied while the gateway runs. Settings that need a restart say so in their row.
- \`$schema\` names [the JSON Schema](toolyard.schema.json) of the file, which editors check it with while you write.
  It is made from the same tables as this page.
`;
