// docs/servers-tried.md: real servers and stand-ins as they were seen through the gateway (docs/servers-tried.json, kept
// by scripts/servers.mjs).

import { cell } from "./cells.mjs";

/** @typedef {import("../servers/try-row.mjs").TriedServer} TriedServer */

/** @param {readonly TriedServer[]} rows */
export function triedTable(rows) {
  const head = [
    "| Server | Version | SDK | Transport | Offers | Called | Differences |",
    "|---|---|---|---|---|---|---|",
  ];
  return [...head, ...rows.map(toRow)].join("\n");
}

function toRow({ name, version, sdk, transport, offers, tool, differences }) {
  const { tools = 0, resources = 0, resourceTemplates = 0, prompts = 0 } = offers;
  const others = [
    [resources + resourceTemplates, "resources"],
    [prompts, "prompts"],
  ].flatMap(([count, what]) => (count === 0 ? [] : [`${count} ${what}`]));
  const offered = [`${tools} tools`, ...others].join(", ");
  const cells = [name, version ?? "stand-in", sdk, transport, offered, tool, differences.join("; ") || "none"];
  return `| ${cells.map(cell).join(" | ")} |`;
}

/** @param {readonly TriedServer[]} rows */
export function serversTriedPage(rows) {
  const usable = rows.filter(({ notStarted }) => notStarted === null);
  const real = usable.filter(({ version }) => version !== null);
  const standIns = usable.filter(({ version }) => version === null);
  const others = rows.filter(({ notStarted }) => notStarted !== null);
  const same = real.filter(({ differences }) => differences.length === 0).length;
  const dates = rows.map(({ date }) => date).sort();
  return `# Servers that were tried

<!-- Made by scripts/write-docs.mjs from docs/servers-tried.json. Do not edit. -->

\`npm run servers -- --write\` installs each of these servers from npm in the version named, and has the official clients of
both generations (\`@modelcontextprotocol/sdk\`, \`@modelcontextprotocol/client\`) ask it directly and through the gateway: for its
tools, resources and prompts, for one call that changes nothing, for the same after a restart, and after its process was
stopped for being idle. Through the gateway that is done in every [exposure](design.md): the four tools, the flat list,
namespaces, one server and REST. What differs, beyond names as they are documented, is listed. A call may fail where a server
finds no network or key; it then has to fail in the same way.

Tried between ${dates[0]} and ${dates.at(-1)}: ${real.length} servers, ${same} of them without a difference.

${triedTable(real)}

## Stand-ins

Debian has no MCP SDK, and those for Rust, Java, Go, C#, PHP and Python are not on npm, but for programs that were built
with them. What such servers do otherwise than those for JavaScript is rebuilt from the published source of the version named
(\`test/servers/stand-ins\`): what they answer to a first request that is not \`initialize\`, to capabilities and methods that
they do not know, and to a session that a restart has ended. They show what was known of the SDK, and nothing else.

${triedTable(standIns)}

## Not usable here

These do not work directly either, and do not count.

| Server | Version | Why |
|---|---|---|
${others.map(({ name, version, notStarted }) => `| ${[name, version ?? "stand-in", oneLine(notStarted)].map(cell).join(" | ")} |`).join("\n")}
`;
}

const oneLine = (text) => text.replaceAll(/\s+/g, " ").slice(0, 300);
