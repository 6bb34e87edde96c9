import { stringify as toToml } from "smol-toml";
import { stringify as toYaml } from "yaml";
import { fileText } from "./client-folders.mjs";

const url = "http://127.0.0.1:3001/mcp";
const command = {
  kind: "command",
  command: "node",
  args: ["/path/to/toolyard/dist/cli/main.js", "stdio", "--config", "/path/to/toolyard.json"],
};
const languages = { json: "json", jsonc: "jsonc", toml: "toml", yaml: "yaml" };

/**
 * docs/quick-start.md: for each client what to type, or what to write by hand, and what to do then.
 * @param {readonly import("../../src/config/clients/table/client-row.ts").ClientRow[]} clients
 * @param {typeof import("../../src/config/clients/connect/own-entry.ts").toOwnEntry} toOwnEntry
 * @returns {string}
 */
export function quickStartPage(clients, toOwnEntry) {
  return `# Quick start for each client

<!-- Made by scripts/write-docs.mjs from src/config/clients/table/client-table.ts and client-habits.ts. Do not edit. -->

First start the gateway, with your own servers or with those of the example:

\`\`\`sh
toolyard serve --config examples/mcp.json
\`\`\`

Then type the line of your client below, and ask its model "which tools do you have for files?". \`toolyard calls -f\` shows
its calls as they come. The entry that it writes is shown beneath, in case you would rather write it
yourself; everything else in the file stays. A gateway that requires a token needs a header, too, which \`connect\` adds
([more](connect.md#what-a-client-gets)).

${clients.map((client) => section(client, toOwnEntry)).join("\n\n")}

## Any other client

A client that speaks MCP over HTTP gets \`${url}\`. One that only starts commands gets \`toolyard stdio\`, which connects
it to the gateway and starts one if none runs. One that knows only the older HTTP+SSE gets
\`http://127.0.0.1:3001/sse\`.
`;
}

function section(client, toOwnEntry) {
  const [place] = client.places;
  const entry = toOwnEntry(client, "toolyard", client.http === undefined ? command : { kind: "url", url });
  const note =
    client.http === undefined
      ? "\n\nIt only starts commands, so it starts `toolyard stdio`, which shares the gateway with your other clients."
      : "";
  return `## ${client.label}

\`\`\`sh
toolyard connect ${client.id}
\`\`\`

${client.reload}${note}${(client.advice ?? []).map((advice) => `\n\n${advice}`).join("")}

By hand, in ${fileOf(place)}:

\`\`\`${languages[place.format]}
${written(client, place, entry)}
\`\`\``;
}

/** The file on each system, as the client itself makes it; one where all are the same. */
function fileOf({ files }) {
  if (Array.isArray(files)) return `\`${fileText(files[0])}\``;
  const named = [
    ["macOS", files.darwin],
    ["Windows", files.win32],
    ["Linux", files.linux],
  ].flatMap(([system, paths]) => (paths === undefined ? [] : [`\`${fileText(paths[0])}\` (${system})`]));
  return named.join(", ");
}

function written({ entries, shownAt }, { format, keyPath }, entry) {
  const servers = entries === "continue" ? [entry] : { toolyard: entry };
  const at = (path, value) => path.reduceRight((inner, key) => ({ [key]: inner }), value);
  const whole = { ...at(keyPath, servers), ...(shownAt === undefined ? {} : at(shownAt, ["mcp__toolyard"])) };
  if (format === "toml") return toToml(whole).trim();
  if (format === "yaml") return toYaml(whole).trim();
  return JSON.stringify(whole, undefined, 2);
}
