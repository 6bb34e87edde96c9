import { expect, test } from "vitest";
import { compareConfigs } from "./config-comparison.ts";
import { buildConfig } from "../load.ts";

const homeDirectories = { config: "/c", data: "/d" };
const config = (value: object, env: Record<string, string> = {}) =>
  buildConfig({ file: "/f/toolyard.json", text: JSON.stringify(value) }, { cwd: "/", env, flags: {}, homeDirectories });
const compare = (before: object, after: object, started: object = before) =>
  compareConfigs({ current: config(before), started: config(started), next: config(after) });

const server = { command: "x", args: ["a"], env: { TOKEN: "one-secret" } };

test("the same configuration has no differences, however it is written", () => {
  expect(compare({ mcpServers: { a: server } }, { servers: { a: { ...server, enabled: true } } })).toEqual([]);
});

test("a server that is new, gone or changed is told by its fields", () => {
  const found = compare({ mcpServers: { a: server } }, { mcpServers: { a: { ...server, args: ["b"] } } });
  expect(found).toEqual([{ path: "servers.a.transport.args", before: ["a"], after: ["b"], needsRestart: false }]);
  expect(compare({}, { mcpServers: { a: server } })).toContainEqual(
    expect.objectContaining({ path: "servers.a.transport.command", before: null, after: "x" }),
  );
  expect(compare({ mcpServers: { a: server } }, {})).toContainEqual(
    expect.objectContaining({ path: "servers.a.transport.command", before: "x", after: null }),
  );
});

test("a secret that changes is told without its values", () => {
  const found = compare(
    { mcpServers: { a: server } },
    { mcpServers: { a: { ...server, env: { TOKEN: "two-secret" } } } },
  );
  expect(found).toEqual([
    { path: "servers.a.transport.env.TOKEN", before: "(hidden)", after: "(hidden)", needsRestart: false },
  ]);
  const embeddings = (apiKey: string) => ({
    toolyard: { search: { embeddings: { url: "http://e", model: "m", apiKey } } },
  });
  expect(JSON.stringify(compare(embeddings("key-one"), embeddings("key-two")))).not.toContain("key-");
});

test("what is read at the start is compared with the start, also when the file was applied since", () => {
  const found = compare({ toolyard: { port: 2 } }, { toolyard: { port: 2 } }, { toolyard: { port: 1 } });
  expect(found).toEqual([{ path: "toolyard.port", before: 1, after: 2, needsRestart: true }]);
});

test("people are compared, too", () => {
  const people = (team: string) => ({ toolyard: { teams: { [team]: {} }, principals: { alice: { team } } } });
  expect(compare(people("a"), people("b")).map(({ path }) => path)).toContain("toolyard.principals.alice.team");
});
