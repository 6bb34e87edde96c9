import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { clientsPage, type SeenClient } from "../../scripts/docs/clients-page.mjs";
import { clients } from "../../scripts/clients/client-rows.mjs";
import { clientsTranscriptPage } from "../../scripts/docs/clients-transcript-page.mjs";
import { clientProfiles, findClientProfile } from "../../src/config/rows/client-profiles.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(join(root, "docs/clients.md"), "utf8");
const seen = JSON.parse(readFileSync(join(root, "docs/clients.json"), "utf8")) as SeenClient[];

test("docs/clients.md is what scripts/write-docs.mjs makes of the table and of what was seen", () => {
  expect(page).toBe(clientsPage(clientProfiles, seen));
});

test("docs/clients-transcript.md is made from the same, and says nothing of the machine that it was made on", () => {
  const transcript = readFileSync(join(root, "docs/clients-transcript.md"), "utf8");
  expect(transcript).toBe(clientsTranscriptPage(seen));
  for (const text of [transcript, page]) expect(text).not.toMatch(/\/tmp\/|\/root\/|127\.0\.0\.1:\d/);
  for (const name of ["Claude Code", "Codex"]) expect(transcript).toMatch(new RegExp(`^## ${name}`, "m"));
  expect(transcript).toContain("The kettle is on the third shelf");
});

test("docs/clients.md has every row of the table, and the example in it is a configuration", () => {
  for (const name of Object.keys(clientProfiles)) expect(page).toContain(`| \`${name}\` |`);
  const example = /```json\n([\s\S]+?)```/.exec(page)?.[1] ?? "";
  expect(JSON.parse(example)).toHaveProperty(["toolyard", "clients"]);
});

test("every client that was tried was offered the tools, found one and called it", () => {
  expect(seen.map(({ name }) => name)).toEqual(clients.map(({ name }) => name));
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

test("in every client that was tried, a call ran once after a yes, never after a no, and waits where nothing was answered", () => {
  const tried = seen.flatMap(({ name, asking }) => (asking === undefined ? [] : [{ name, ...asking }]));
  expect(tried.map(({ name, way }) => [name, way])).toEqual([
    ["Claude Code", "terminal"],
    ["Codex", "terminal"],
    ["Gemini CLI", "inbox"],
    ["opencode", "inbox"],
    ["Qwen Code", "inbox"],
    ["Copilot CLI", "terminal"],
  ]);
  for (const { name, way, answers, headless, lookup, problems } of tried) {
    expect([name, problems]).toEqual([name, []]);
    expect(answers.map(({ answer, ran, state }) => [answer, ran, state])).toEqual([
      ["yes", 1, "used"],
      ["no", 0, "denied"],
      ["nothing", 0, "waiting"],
    ]);
    const via = way === "terminal" ? "client" : "owner";
    expect([name, ...answers.map((one) => one.via)]).toEqual([name, via, via, null]);
    if (way === "inbox") continue;
    // The form is what a person sees, and without a person the inbox decides.
    for (const { shown } of answers) expect(shown[0]).toMatch(/Allow notes · delete_notes\?[^]*id: 7[^]*No/);
    expect([name, headless?.via, headless?.ran]).toEqual([name, "owner", 1]);
    expect([name, lookup?.ran]).toEqual([name, ["read_notes"]]);
  }
});

test("a row says that a client has resource tools of its own exactly where it was seen to have both", () => {
  for (const { name, clientName, own, ...row } of seen) {
    const offered = row.offeredAllowed ?? row.offered;
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
