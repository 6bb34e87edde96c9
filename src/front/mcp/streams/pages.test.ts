import { expect, test } from "vitest";
import type { View } from "../../../catalog/model/view.ts";
import type { Exposure, ListKind } from "../../../catalog/exposure/exposure.ts";
import { createPageBook } from "./pages.ts";

function viewOf(id: string): View {
  return { principal: { id } } as unknown as View;
}

function exposureOf(items: readonly string[], name = "flat"): Exposure {
  return { name, list: () => ({ items, ttlMs: 1_000, cacheScope: "private" }) } as unknown as Exposure;
}

const key = Buffer.alloc(32, 1);
const items = Array.from({ length: 2_500 }, (_, index) => JSON.stringify({ name: `tool-${index}` }));

function nextCursor(body: string): string | undefined {
  return /"nextCursor":"([^"]+)"/.exec(body)?.[1];
}

test("all pages together are the list, in its order, and the last has no cursor", () => {
  const book = createPageBook(() => [key]);
  const view = viewOf("alice");
  const exposure = exposureOf(items);
  const seen: unknown[] = [];
  let cursor: string | undefined;
  let pages = 0;
  do {
    const page = book.page(view, exposure, { kind: "tools", cursor: cursor });
    seen.push(...(JSON.parse(`{${page.body}}`) as { tools: unknown[] }).tools);
    cursor = nextCursor(page.body);
    pages += 1;
  } while (cursor !== undefined);
  expect(pages).toBe(3);
  expect(seen).toEqual(items.map((item) => JSON.parse(item) as unknown));
});

test("a page also ends at its bytes, and one item that is larger than a page is a page", () => {
  const huge = JSON.stringify({ name: "x".repeat(3 * 1024 * 1024) });
  const book = createPageBook(() => [key]);
  const first = book.page(viewOf("alice"), exposureOf([huge, huge]), { kind: "tools", cursor: undefined });
  expect((JSON.parse(`{${first.body}}`) as { tools: unknown[] }).tools).toHaveLength(1);
});

test("FAULT 59: a cursor of another person, list or exposure is refused, and so is an invented one", () => {
  const book = createPageBook(() => [key]);
  const exposure = exposureOf(items);
  const cursor = nextCursor(book.page(viewOf("alice"), exposure, { kind: "tools", cursor: undefined }).body);
  const refused = expect.objectContaining({ code: "CURSOR_INVALID" });
  expect(() => book.page(viewOf("bob"), exposure, { kind: "tools", cursor: cursor })).toThrowError(refused);
  expect(() => book.page(viewOf("alice"), exposure, { kind: "prompts", cursor: cursor })).toThrowError(refused);
  expect(() => book.page(viewOf("alice"), exposureOf(items, "meta"), { kind: "tools", cursor: cursor })).toThrowError(
    refused,
  );
  for (const invented of [" ", "x", 1, {}, "1", Buffer.from("1.sig").toString("base64url"), "x".repeat(100_000)]) {
    expect(() =>
      book.page(viewOf("alice"), exposure, { kind: "tools" satisfies ListKind, cursor: invented }),
    ).toThrowError(refused);
  }
});

test("a cursor survives a new catalog; when nothing is left behind it, the page is empty", () => {
  const book = createPageBook(() => [key]);
  const cursor = nextCursor(book.page(viewOf("alice"), exposureOf(items), { kind: "tools", cursor: undefined }).body);
  expect(book.page(viewOf("alice"), exposureOf(items.slice(0, 5)), { kind: "tools", cursor: cursor }).body).toBe(
    '"tools":[]',
  );
});

test("a cursor of another gateway with the same key is good, also while the key is changed", () => {
  const exposure = exposureOf(items);
  const [first, second] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const ask = (keys: readonly Buffer[], cursor?: string) =>
    createPageBook(() => keys).page(viewOf("alice"), exposure, { kind: "tools", cursor });
  const cursor = nextCursor(ask([first]).body);
  const page = ask([first], cursor);
  expect(page.body).toContain("tool-1000");
  expect(ask([second, first], cursor).body.split("nextCursor")[0]).toBe(page.body.split("nextCursor")[0]);
  expect(() => ask([second], cursor)).toThrowError(expect.objectContaining({ code: "CURSOR_INVALID" }));
});
