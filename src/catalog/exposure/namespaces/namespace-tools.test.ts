import { expect, test } from "vitest";
import { estimateTokens } from "../text/token-estimate.ts";
import { matchesWords, takeItems } from "./namespace-tools.ts";

const sources = Array.from({ length: 400 }, (_, at) => `tool number ${at} which does something useful`);

test("pages follow each other by cursor until every item was given exactly once", () => {
  const seen: string[] = [];
  let cursor: string | undefined;
  let pages = 0;
  do {
    const page = takeItems(sources, cursor, (source) => source);
    expect(estimateTokens(JSON.stringify(page.items))).toBeLessThanOrEqual(4_100);
    seen.push(...page.items);
    cursor = page.nextCursor;
    pages += 1;
  } while (cursor !== undefined);
  expect(seen).toEqual(sources);
  expect(pages).toBeGreaterThan(1);
});

test("an item that is larger than a page is given alone", () => {
  const large = "word ".repeat(10_000);
  const first = takeItems([large, "small"], undefined, (source) => source);
  expect(first).toEqual({ items: [large], nextCursor: "1" });
  expect(takeItems([large, "small"], "1", (source) => source)).toEqual({ items: ["small"], nextCursor: undefined });
});

test("items behind the page are not built, but for the one that did not fit", () => {
  let built = 0;
  const { items } = takeItems(sources, undefined, (source) => {
    built += 1;
    return source;
  });
  expect(built).toBe(items.length + 1);
});

test("a cursor behind the end gives an empty page, and one of another form is refused", () => {
  expect(takeItems(sources, "9999", (source) => source)).toEqual({ items: [], nextCursor: undefined });
  for (const cursor of ["", "-1", "1.5", "x", "12345678"])
    expect(() => takeItems(sources, cursor, (source) => source)).toThrow(
      expect.objectContaining({ code: "CURSOR_INVALID" }),
    );
});

test.each([
  ["issue create", "Create_issue: opens an ISSUE", true],
  ["issue merge", "create_issue", false],
  ["", "anything", true],
])("the words %j are found in %j: %s", (query, text, found) => {
  expect(matchesWords(query, text)).toBe(found);
});
