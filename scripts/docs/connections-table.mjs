/**
 * The table of clients for docs/connect.md: how each reaches the gateway, how its own servers are switched off, and
 * when it reads its file.
 * @param {readonly import("../../src/config/clients/table/client-row.ts").ClientRow[]} clients
 * @returns {string}
 */
export function connectionsTable(clients) {
  const rows = clients.map((client) => {
    const scopes = [...new Set(client.places.map(({ scope }) => scope))].join(", ");
    return `| ${client.label} | \`${client.id}\` | ${scopes} | ${[wayText(client.http), ...besides(client)].join("; ")} | ${offText(client.switchOff)} | ${client.reload} |`;
  });
  const head = [
    "| Client | `toolyard connect` | Scopes | Gets | Own servers are switched off by | Then |",
    "|---|---|---|---|---|---|",
  ];
  return [...head, ...rows].join("\n");
}

function wayText(http) {
  if (http === undefined) return "a command";
  return `an address in \`${http.addressField}\`, a token in \`${http.headersField}\``;
}

/** Fields that make the client show our tools to its model. */
function besides({ ownFields = {}, commandFields = {}, shownAt }) {
  const field = ([name, value]) => `\`"${name}": ${JSON.stringify(value)}\``;
  return [
    ...Object.entries(ownFields).map(field),
    ...Object.entries(commandFields).map((pair) => `with \`--stdio\` ${field(pair)}`),
    ...(shownAt === undefined ? [] : [`\`mcp__toolyard\` in \`${shownAt.join(".")}\``]),
  ];
}

function offText(switchOff) {
  if (switchOff === undefined) return "removing them";
  return "field" in switchOff
    ? `\`"${switchOff.field}": ${switchOff.value}\``
    : `their names in \`${switchOff.listedAt.join(".")}\``;
}
