import { expect, test } from "vitest";
import type { Log } from "../../kernel/runtime/log.ts";
import { createOddities } from "./oddities.ts";

function createLogged(): { readonly log: Log; readonly lines: string[] } {
  const lines: string[] = [];
  const at = (level: string) => (_fields: unknown, message: string) => void lines.push(`${level} ${message}`);
  return { lines, log: { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") } };
}

test("oddities of a kind are counted, with their first examples, and logged as a warning once", () => {
  const { log, lines } = createLogged();
  const oddities = createOddities(() => "s", log);
  expect(oddities.sentences()).toEqual([]);
  for (let call = 1; call <= 12; call += 1) oddities.note("results.odd", `s:t${call % 8} (content is null)`);
  expect(oddities.all()).toMatchObject([{ kind: "results.odd", count: 12 }]);
  expect(oddities.all()[0]?.examples).toHaveLength(5);
  expect(oddities.sentences()[0]).toMatch(/^12 results were odd: s:t1 \(content is null\), .*, …$/);
  expect(lines.filter((line) => line.startsWith("warn"))).toEqual(["warn s: 1 result was odd: s:t1 (content is null)"]);
});

test("what a list has is replaced when the list is read again, and is told again only when it differs", () => {
  const { log, lines } = createLogged();
  const oddities = createOddities(() => "s", log);
  oddities.replace("tools.odd", ["a (title is null)", "b (icons is null)"]);
  oddities.replace("tools.odd", ["a (title is null)", "b (icons is null)"]);
  expect(oddities.sentences()).toEqual(["2 tools have odd definitions: a (title is null), b (icons is null)"]);
  expect(lines).toHaveLength(1);
  oddities.replace("tools.odd", []);
  expect(oddities.all()).toEqual([]);
});

test("an example is no longer than a line", () => {
  const oddities = createOddities(() => "s", createLogged().log);
  oddities.note("items.skipped", "x".repeat(10_000));
  expect(oddities.sentences()[0]?.length).toBeLessThan(250);
});
