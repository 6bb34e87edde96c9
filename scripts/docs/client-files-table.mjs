import { fileText } from "./client-folders.mjs";

/**
 * The table of clients for docs/import.md: whose settings are read, where they are, and what moves them.
 * @param {readonly import("../../src/config/clients/table/client-row.ts").ClientRow[]} clients
 * @returns {string}
 */
export function clientFilesTable(clients) {
  const rows = clients.flatMap((client) =>
    client.places.map((place, index) => {
      const name = index === 0 ? `[${client.label}](${client.source})` : "";
      const keys = place.keyPath.map((key) => (key === "{project}" ? "‹project›" : key)).join(".");
      const variables = (place.variables ?? []).map((variable) => `\`${variable.name}\``).join(", ");
      return `| ${name} | ${index === 0 ? `\`${client.id}\`` : ""} | ${place.scope} | ${filesText(place.files)} | \`${keys}\` | ${variables} |`;
    }),
  );
  const head = ["| Client | `--from` | Scope | File | Servers in | Moved by |", "|---|---|---|---|---|---|"];
  return [...head, ...rows].join("\n");
}

const systems = { darwin: "macOS", win32: "Windows", linux: "Linux" };

function filesText(files) {
  if (Array.isArray(files)) return listText(files);
  const texts = Object.entries(systems).flatMap(([system, name]) =>
    files[system] === undefined ? [] : [`${name}: ${listText(files[system])}`],
  );
  return texts.join("<br>");
}

function listText(files) {
  return files.map((file) => `\`${fileText(file)}\``).join(", ");
}
