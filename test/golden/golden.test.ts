import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { get } from "../harness/rest.ts";
import { localCommands, teamCommands, wideCommands } from "./commands.ts";
import { fixedServers, startFixedWorld, type FixedWorld } from "./fixed-world.ts";

/**
 * What is promised: the description of REST, and what every command prints on a machine that is always the same, as
 * text and as JSON. `npm run golden` writes the files; a difference is a change that stands in CHANGELOG.md.
 */
const isWriting = process.env["GOLDEN"] === "write";

function compare(name: string, text: string): void {
  const file = fileURLToPath(new URL(`files/${name}`, import.meta.url));
  if (isWriting) {
    mkdirSync(fileURLToPath(new URL("files/", import.meta.url)), { recursive: true });
    writeFileSync(file, text);
  }
  expect(text, "`npm run golden` writes it anew").toBe(readFileSync(file, "utf8"));
}

async function compareCommands(world: FixedWorld, name: string, list: readonly (readonly string[])[]): Promise<void> {
  const parts: string[] = [];
  for (const words of list) parts.push(await world.transcript(words));
  compare(name, parts.join("\n"));
}

describe("what is promised stays as it is", () => {
  test("REST, as its document describes it", async () => {
    await using world = await startFixedWorld({ servers: fixedServers });
    const { json } = await get(`${world.gateway.url}/openapi.json`);
    const { servers: _where, ...document } = json as Record<string, unknown>;
    compare("openapi.json", `${JSON.stringify(document, undefined, 1)}\n`);
  });

  test("commands of a gateway for one person", async () => {
    await using world = await startFixedWorld({ servers: fixedServers });
    await compareCommands(world, "local.txt", localCommands);
  }, 300_000);

  test.each([80, 120])("commands on a terminal of %i columns", async (columns) => {
    await using world = await startFixedWorld({ servers: fixedServers, columns });
    await compareCommands(world, `terminal-${columns}.txt`, wideCommands);
  });

  test("commands of a gateway for teams", async () => {
    await using world = await startFixedWorld({ servers: { tools: fixedServers.tools }, args: ["--team"] });
    await compareCommands(world, "team.txt", teamCommands);
  }, 300_000);
});
