import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { transportKinds, transports } from "../../src/config/entry/transports.ts";

const source = fileURLToPath(new URL("../../src", import.meta.url));

/**
 * Who may know transports by name: their table, the parser of the configuration and its fields, and the choice of the
 * connector; what reads other clients' entries is a parser, too. Those of our own clients have the same names: who
 * took a request in says which way it came. The registry of servers has names of its own, and the command that adds
 * servers has an option for the older transport. Examples are entries as people write them. The command that clients
 * start is called after one.
 */
const knowers = [
  "app/servers/connections.ts",
  "cli/clients/client-commands.ts",
  "cli/doctor/doctor-command.ts",
  "cli/servers/add-server.ts",
  "config/clients/connect/client-entry.ts",
  "config/entry/read-entry.ts",
  "config/entry/server-entry.ts",
  "config/entry/server-fields.ts",
  "config/entry/transports.ts",
  "config/registry/registry-entry.ts",
  "config/registry/server-json.ts",
  "front/mcp/transports/sse.ts",
  "front/mcp/transports/stdio-client.ts",
  "kernel/call/call-context.ts",
  "operations/machine/clients/connection-way.ts",
  "operations/machine/doctor/doctor-clients.ts",
  "operations/machine/servers/example-servers.ts",
];

test("only the table, the parser and the connectors know transports by name; all others ask for traits", () => {
  const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && !file.endsWith(".test.ts"),
  );
  // `"http"` alone is also the name of what is loaded late, and of an owner's door.
  const named = /"(?:stdio|sse)"|transport(?:\.kind)? [!=]== "/;
  const found = files.filter((file) => named.test(readFileSync(join(source, file), "utf8"))).sort();
  expect(found.sort()).toEqual(knowers);
});

test("no two transports have a spelling in common", () => {
  const spellings = transportKinds.flatMap((kind) => [...transports[kind].spellings, ...transports[kind].aliases]);
  expect(new Set(spellings).size).toBe(spellings.length);
});
