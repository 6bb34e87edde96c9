import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { clientsPage, type SeenClient } from "../../scripts/docs/clients-page.mjs";
import { clientProfiles, findClientProfile } from "../../src/config/client-profiles.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(join(root, "docs/clients.md"), "utf8");
const seen = JSON.parse(readFileSync(join(root, "docs/clients.json"), "utf8")) as SeenClient[];

test("docs/clients.md is what scripts/write-docs.mjs makes of the table and of what was seen", () => {
  expect(page).toBe(clientsPage(clientProfiles, seen));
});

test("docs/clients.md has every row of the table, and the example in it is a configuration", () => {
  for (const name of Object.keys(clientProfiles)) expect(page).toContain(`| \`${name}\` |`);
  const example = /```json\n([\s\S]+?)```/.exec(page)?.[1] ?? "";
  expect(JSON.parse(example)).toHaveProperty(["toolyard", "clients"]);
});

test("every client that was tried discovered and executed", () => {
  expect(seen).toHaveLength(6);
  expect(seen.flatMap(({ name, problems }) => problems.map((problem) => `${name}: ${problem}`))).toEqual([]);
});

test("every client that can log in by a command did, and was shut out in the end", () => {
  const tried = seen.flatMap(({ name, team }) => (team === undefined ? [] : [{ name, ...team }]));
  expect(tried.map(({ name }) => name)).toEqual(["Claude Code", "Codex", "opencode"]);
  for (const { name, done, said } of tried) {
    expect(done, name).toEqual(["loggedIn", "called", "renewed", "restarted", "shutOut"]);
    expect(said, name).toMatch(/auth/i);
  }
});

test("a row says that a client has resource tools of its own exactly where it was seen to have both", () => {
  for (const { name, clientName, own, offered } of seen) {
    const hasOwn = own.length === 2;
    expect(findClientProfile(clientProfiles, clientName ?? "")?.ownResourceTools ?? false, name).toBe(hasOwn);
    expect(offered.includes("read_mcp_resource"), name).toBe(!hasOwn);
  }
});

test("a client whose model saw none of the tools without its row has a row, and then sees them", () => {
  for (const { name, clientName, offered } of seen.filter((client) => client.offeredWithout.length === 0)) {
    expect(findClientProfile(clientProfiles, clientName ?? "")?.toolMeta, name).toHaveProperty("*");
    expect(offered, name).toHaveLength(4);
  }
});
