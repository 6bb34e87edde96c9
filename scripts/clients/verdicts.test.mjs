import { expect, test } from "vitest";
import { toTranscripts } from "./transcript.mjs";
import { howAsked, howLong, howMuch, notOffered, whetherCalled } from "./verdicts.mjs";

const run = (results, more = {}) => ({
  ...{ offered: ["discover_mcp_tools"], behind: [], canBeAsked: true, others: 3 },
  seen: { results: new Map(Object.entries(results)), made: [{ step: "wait", atMs: 5, backMs: 60_100 }], first: [] },
  ...more,
});

test("a client that does not offer our tools fails, and it is said what its model has instead", () => {
  expect(notOffered(run({}))).toEqual([]);
  const [problem] = notOffered(run({}, { offered: [], behind: ["tool_search"] }));
  expect(problem).toMatch(/none of our tools.*only reach them with tool_search/);
});

test("a call counts when its result came back, and not when anything did", () => {
  expect(whetherCalled(run({ discover: "found", execute: "said: the kettle" }), "the kettle")).toBe("yes");
  expect(whetherCalled(run({ discover: "found", execute: "Wall time: 0.1 seconds\nOutput:\nneeds a yes" }), "x")).toBe(
    "needs a yes",
  );
  expect(whetherCalled(run({ discover: "not allowed" }), "the kettle")).toBe("not allowed");
  expect(whetherCalled(run({}), "the kettle")).toBeNull();
});

test("a refusal becomes one line of code without the folder of the trial, whatever a client prints", () => {
  const said = `no\u001b[31m \`access\` to\n/tmp/toolyard-clients-aB3/codex/home/x | ${"\u05d0".repeat(70_000)} at last`;
  const shown = whetherCalled(run({ execute: said }), "the kettle");
  expect(shown).toMatch(/^no \[31m 'access' to ~\/codex\/home\/x \| \u05d0+…\u05d0+ at last$/);
  expect(shown.length).toBeLessThan(170);
});

test("a long call arrived when the server's answer is there, also within other JSON", () => {
  const arrived = { seconds: 100, arrived: true };
  for (const text of ['{"waitedMs":100000}', String.raw`[{"text":"{\"waitedMs\":100000}"}]`])
    expect(howLong(run({ wait: text }), 100_000)).toEqual(arrived);
  expect(howLong(run({ wait: "The operation timed out." }), 100_000)).toEqual({
    ...{ seconds: 100, arrived: false, lostAfter: 60, said: "The operation timed out." },
  });
  const neverBack = run({});
  delete neverBack.seen.made[0].backMs;
  expect(howLong(neverBack, 100_000)).toMatchObject({ arrived: false, lostAfter: null, said: "nothing came back" });
});

test("an elicitation is not declared, or answered with an action", () => {
  expect(howAsked(run({ ask: "anything" }, { canBeAsked: false }))).toBe("not declared");
  expect(howAsked(run({ ask: String.raw`{"text":"{\"action\":\"decline\"}"}` }))).toBe("declined");
  expect(howAsked(run({ ask: "broken" }))).toBe("broken");
});

test("of a large result, lines are counted once wherever they are, and the way to the rest is looked for", () => {
  const lines = ["line 0001: a", "line 0900: b", "line 0001: a"].join("\n");
  const log = { lines: 900, lineLength: 100 };
  expect(howMuch(run({ large: lines }), log)).toEqual({ characters: 200, of: 90_000, isTold: false });
  expect(howMuch(run({ large: `${lines} toolyard://result/x` }), log)).toMatchObject({ isTold: true });
  expect(howMuch(run({}), log)).toBeNull();
});

test("a transcript is the same in two runs, and has no directions or colours of a result", () => {
  const seen = (path, time) => ({
    first: ["Bash", "mcp__toolyard__discover_mcp_tools", "mcp__toolyard.read_mcp_resource", "tool_search"],
    made: [
      { step: "discover", tool: "d", input: {} },
      { step: "wait", tool: "w", input: {} },
    ],
    results: new Map([
      [
        "discover",
        `Wall time: ${time} seconds {"search_time_ms":${time}}\n\u202e\u001b[1m${path}/notes ${"x".repeat(70_000)}`,
      ],
    ]),
  });
  const client = { allow: { args: ["--yes"] } };
  const make = (path, time) => {
    const one = run({}, { seen: seen(path, time) });
    return toTranscripts({ client, byDefault: one, allowed: one });
  };
  const transcripts = make("/tmp/toolyard-clients-aaa", "0.1234");
  expect(transcripts).toEqual(make("/var/tmp/toolyard-clients-bbb", "2.5"));
  expect(transcripts.map(({ started }) => started)).toEqual(["as it comes", "with `--yes`"]);
  expect(transcripts[0].ours).toEqual(["mcp__toolyard__discover_mcp_tools", "mcp__toolyard.read_mcp_resource"]);
  expect(transcripts[0].calls).toHaveLength(1);
  expect(transcripts[0].calls[0].answer).toMatch(
    /^Wall time: 0\.1 seconds \{"search_time_ms":100\}\n\[1m~\/notes x+…$/,
  );
});
