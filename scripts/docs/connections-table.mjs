/**
 * The table of clients for docs/connect.md: how each reaches the gateway, how its own servers are switched off, and
 * when it reads its file.
 * @param {readonly import("../../src/config/clients/client-row.ts").ClientRow[]} clients
 * @returns {string}
 */
export function connectionsTable(clients) {
  const rows = clients.map((client) => {
    const scopes = [...new Set(client.places.map(({ scope }) => scope))].join(", ");
    return `| ${client.label} | \`${client.id}\` | ${scopes} | ${wayText(client.http)} | ${offText(client.switchOff)} | ${client.reload} |`;
  });
  const head = [
    "| Client | `toolyard connect` | Scopes | Gets | Own servers are switched off by | Then |",
    "|---|---|---|---|---|---|",
  ];
  return [...head, ...rows].join("\n");
}

function wayText(http) {
  if (http === undefined) return "a command";
  const token = http.headersField === undefined ? "" : `, a token in \`${http.headersField}\``;
  return `an address in \`${http.addressField}\`${token}`;
}

function offText(switchOff) {
  if (switchOff === undefined) return "taking them out";
  return "field" in switchOff
    ? `\`"${switchOff.field}": ${switchOff.value}\``
    : `their names in \`${switchOff.listedAt.join(".")}\``;
}
