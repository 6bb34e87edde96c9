import { describe, expect, test } from "vitest";
import type { ServerOverview, ToolOverview } from "../../app/records/status-report.ts";
import { thingsToAsk } from "./example-questions.ts";

type Traits = Partial<Pick<ToolOverview, "readOnly" | "needsNothing">> & { readonly said?: readonly string[] };
const tool = (
  description: string,
  { readOnly = false, needsNothing = false, said = [] }: Traits = {},
): ToolOverview => ({
  name: "tool",
  description,
  readOnly,
  needsNothing,
  phrases: async () => said,
});
const server = (title: string, ...tools: readonly ToolOverview[]): ServerOverview => ({
  slug: title.toLowerCase(),
  title,
  status: "online",
  dormant: false,
  reason: "it answers",
  tools,
  offers: null,
  tokens: 0,
});
const asked = async (description: string): Promise<readonly string[]> =>
  await thingsToAsk([server("Files", tool(description))]);

describe("a description becomes a sentence that a person can say", () => {
  test.each([
    ["Read the entire graph", "read the entire graph"],
    ["Returns the sum of two numbers.", "return the sum of two numbers"],
    ["Queries all tables", "query all tables"],
    ["Searches every page", "search every page"],
    ["Fixes broken links", "fix broken links"],
    ["Processes an image", "process an image"],
    ["Process an image", "process an image"],
    ["Pass it on", "pass it on"],
    ["List what is there. It may take a while.", "list what is there"],
    ["List folders (not files)", "list folders"],
    ["Open index.html in a browser", "open index.html in a browser"],
  ])("%s", async (description, task) => expect(await asked(description)).toEqual([`Use Files to ${task}.`]));

  test("which is cut where it is longer than a line", async () => {
    const [sentence = ""] = await asked(`List ${"word ".repeat(40)}`);
    expect(sentence).toMatch(/ word…\.$/);
    expect(sentence.length).toBeLessThanOrEqual("Use Files to .".length + 90);
  });

  test("and in which no server can move the cursor", async () => {
    const things = await thingsToAsk([server("Fi\u001b[2Jles", tool("List the\u202e things\nbelow"))]);
    expect(things).toEqual(["Use Fi [2Jles to list the  things below."]);
  });
});

test.each([
  "A tool that lists files",
  "Use this to list files",
  "This lists files",
  "",
  "ls",
  "42 is the answer",
  "Read an environment variable",
  "Get the password of somebody",
  "Deletes a file",
  "Remove all rows",
  "List access tokens",
])("nobody is told to try what reads badly, is dangerous or shows a secret: %j", async (description) =>
  expect(await asked(description)).toEqual([]),
);

test("what people say goes before what a tool does by its own account", async () => {
  const said = async (...phrases: readonly string[]): Promise<readonly string[]> =>
    await thingsToAsk([server("Files", tool("List allowed folders", { said: phrases }))]);
  expect(await said("which folders may you touch")).toEqual(["Which folders may you touch? Use Files."]);
  expect(await said("ls", "show this one again", "find all pictures")).toEqual(["Find all pictures. Use Files."]);
  // What a person would have to name first, and what is dangerous, is not said.
  expect(await said("open that file", "delete all old files")).toEqual(["Use Files to list allowed folders."]);
});

test("what only reads comes first, then what needs no arguments", async () => {
  const things = await thingsToAsk([
    server("Plain", tool("Write one thing"), tool("Write another thing", { needsNothing: true })),
    server("Reader", tool("Make a thing", { needsNothing: true }), tool("Look at things", { readOnly: true })),
    server("Best", tool("See everything", { readOnly: true, needsNothing: true })),
  ]);
  expect(things).toEqual([
    "Use Best to see everything.",
    "Use Reader to look at things.",
    "Use Plain to write another thing.",
  ]);
});

test("there are three at most, each of another server, and none of a server without tools", async () => {
  const many = ["One", "Two", "Three", "Four"].map((title) => server(title, tool("See this"), tool("See that")));
  expect(await thingsToAsk([server("Empty"), ...many])).toEqual([
    "Use One to see this.",
    "Use Two to see this.",
    "Use Three to see this.",
  ]);
  expect(await thingsToAsk([])).toEqual([]);
});
