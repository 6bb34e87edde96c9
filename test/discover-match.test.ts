import { afterAll, beforeAll, expect, test } from "vitest";
import { discover, untilOnline } from "./faults/servers/faulty-gateway.ts";
import { startGateway, type RunningGateway } from "./harness/gateway.ts";

/** The three servers that `npm start` runs, and what people ask them, or ask in vain. */
const packages = { everything: [], filesystem: ["/tmp"], memory: [] } as const;
const answerable = [
  "read a file",
  "write text to a file",
  "list the files of a directory",
  "move a file",
  "add two numbers",
  "echo a message",
  "create entities in the knowledge graph",
  "search the graph",
];
const unrelated = [
  "how many orders are there",
  "send an email",
  "what is the weather in Berlin",
  "book a flight to Paris",
  "merge a pull request",
  "translate hello to French",
  "order a pizza",
  "deploy to kubernetes",
];

let gateway: RunningGateway;
beforeAll(async () => {
  const mcpServers = Object.fromEntries(
    Object.entries(packages).map(([name, args]) => [
      name,
      {
        command: process.execPath,
        args: [`node_modules/@modelcontextprotocol/server-${name}/dist/index.js`, ...args],
        cwd: process.cwd(),
      },
    ]),
  );
  gateway = await startGateway({ config: { mcpServers } });
  await untilOnline(gateway, ...Object.keys(packages));
});
afterAll(async () => await gateway[Symbol.asyncDispose]());

test("what the servers can do is never called none, what they cannot is never called good", async () => {
  const matches = new Map<string, string>();
  for (const query of [...answerable, ...unrelated]) matches.set(query, (await discover(gateway, { query })).match);
  expect(answerable.filter((query) => matches.get(query) === "none")).toEqual([]);
  expect(unrelated.filter((query) => matches.get(query) === "good")).toEqual([]);
  const unsure = [...answerable, ...unrelated].filter((query) => matches.get(query) === "weak");
  expect(unsure.length).toBeLessThanOrEqual(3);
});

test("a question that nothing fits still gets the nearest tools, and is told so", async () => {
  const answer = await discover(gateway, { query: "what is the weather of a file" });
  expect(answer.tools.length).toBeGreaterThan(0);
  const none = await discover(gateway, { query: "how many orders are there" });
  expect(none).toMatchObject({ match: "none", hint: expect.stringMatching(/nearest|No tool/) });
  for (const tool of none.tools) expect(tool.relevance_score).toBeGreaterThan(0.8);
});

test("of several needs each says how well it is met", async () => {
  const answer = await discover(gateway, { queries: ["read a file", "book a flight to Paris"] });
  expect(answer).toMatchObject({ match: "good", needs: [{ match: "good" }, { match: "none" }] });
});

test("an empty query is no question: nothing is matched", async () => {
  expect(await discover(gateway, { query: "" })).not.toHaveProperty("match");
});
