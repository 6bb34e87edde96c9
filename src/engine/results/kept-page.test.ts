import { describe, expect, test } from "vitest";
import { parseKeptUri, toKeptUri, type KeptPage } from "../../catalog/exposure/kept-uri.ts";
import { estimateTokens } from "../../catalog/exposure/text/token-estimate.ts";
import { atOnce } from "../../../test/harness/at-once.ts";
import { keptText } from "../../../test/harness/kept-text.ts";
import { readPage as readInSlices, type KeptText, type PageText } from "./kept-page.ts";

const log = Array.from({ length: 2_000 }, (_, n) => `${n} ${n % 10 === 0 ? "ERROR disk" : "ok"} worker-${n}`).join(
  "\n",
);

const readPage = (kept: KeptText, page: KeptPage): PageText => atOnce(readInSlices(kept, page));
const kept = keptText(log, 500);

/** Reads on as a model would: by what each page says comes next. */
function readAll(text: string, first: KeptPage, maxTokens: number): string[] {
  const pages: string[] = [];
  for (let page: KeptPage | undefined = first; page !== undefined;) {
    const read = readPage(keptText(text, maxTokens), page);
    pages.push(read.text);
    page = read.next === undefined ? undefined : parseKeptUri(toKeptUri("a".repeat(22), read.next))?.page;
  }
  return pages;
}

describe("a kept result", () => {
  test("is read whole, part by part", () => {
    const pages = readAll(log, { kind: "part", part: 1 }, 500);
    expect(pages.length).toBeGreaterThan(10);
    expect(pages.join("")).toBe(log);
    for (const page of pages) expect(estimateTokens(page)).toBeLessThanOrEqual(520);
  });

  test("goes on behind what the cut result showed", () => {
    const cut = keptText(log, 500, 50);
    const [shown, next] = [1, 2].map((part) => readPage(cut, { kind: "part", part }).text);
    expect(shown?.length).toBeLessThan(300);
    expect(log.startsWith(`${shown}${next}`)).toBe(true);
    expect(next?.length).toBeGreaterThan(1_000);
  });

  test("says how many parts there are to whoever asks for one too many", () => {
    const { text, note, next } = readPage(keptText("short", 100), { kind: "part", part: 2 });
    expect([text, note, next]).toEqual(["", "There is no part 2: the result has 1.", undefined]);
  });

  test("is read by its lines with a text, in any case, with their numbers", () => {
    const pages = readAll(log, { kind: "match", text: "error DISK", fromLine: 1 }, 500);
    expect(pages.length).toBeGreaterThan(2);
    const lines = pages.join("\n").split("\n");
    expect(lines).toHaveLength(200);
    expect(lines[1]).toBe("11: 10 ERROR disk worker-10");
    expect(readPage(kept, { kind: "match", text: "error disk", fromLine: 1 }).note).toMatch(
      /^\d+ of 200 lines with "error disk"/,
    );
  });

  test("says so when no line has the text", () => {
    expect(readPage(kept, { kind: "match", text: "nothing", fromLine: 1 })).toMatchObject({
      text: "",
      note: 'There are no lines with "nothing".',
      next: undefined,
    });
  });

  test("shows of an endless line what is around the text", () => {
    const line = `${"a ".repeat(20_000)}NEEDLE${" b".repeat(20_000)}`;
    const { text } = readPage(keptText(`first\n${line}\nlast`, 300), { kind: "match", text: "needle", fromLine: 1 });
    expect(text).toContain("NEEDLE");
    expect(text.startsWith("2: …")).toBe(true);
    expect(estimateTokens(text)).toBeLessThan(350);
  });
});
