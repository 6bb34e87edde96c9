import { describe, expect, test } from "vitest";
import { atOnce } from "../../../test/harness/at-once.ts";
import { estimateTokens } from "../../catalog/exposure/text/token-estimate.ts";
import { planCut, writeCut, type Cut, type StructuredRule } from "./cut-result.ts";
import { findOversized } from "./oversized.ts";
import { readText } from "./said-text.ts";

const note = { text: "NOTE", uri: undefined };
const lines = Array.from({ length: 3_000 }, (_, n) => `${n}: a line of a log file\n`).join("");
const rows = Array.from({ length: 2_000 }, (_, id) => ({ id, title: `issue number ${id}`, open: id % 2 === 0 }));

/** All that is kept, and what of it the cut result shows. */
const textOf = ({ kept }: Cut): string =>
  kept.starts
    .map((start, index) => readText(kept.said, start, kept.starts[index + 1]?.at ?? kept.said.bytes.length))
    .join("");
const beginningOf = ({ kept }: Cut): string =>
  readText(kept.said, { at: 0, isInString: false }, kept.starts[1]?.at ?? kept.said.bytes.length);

/** A result cut to 1,000 tokens, as clients read it. */
function cut(result: object, rule: StructuredRule = "leave out", listName: "content" | "contents" = "content") {
  const bytes = Buffer.from(JSON.stringify(result));
  const large = atOnce(findOversized({ bytes }, listName, 1_000));
  if (large === undefined) throw new Error("it fits");
  const plan = atOnce(planCut(large, 1_000, rule));
  // oxlint-disable-next-line typescript/no-explicit-any -- whatever came out
  const written = JSON.parse(writeCut(large, plan, note).toString("utf8")) as any;
  return { large, plan, written };
}

describe("a result is found to be too large", () => {
  const sizes = (result: object) =>
    atOnce(findOversized({ bytes: Buffer.from(JSON.stringify(result)) }, "content", 1_000));

  test("by its texts, and by nothing else in it", () => {
    expect(sizes({ content: [{ type: "text", text: lines }] })?.tokens).toBeGreaterThan(10_000);
    expect(sizes({ content: [{ type: "image", data: "A".repeat(500_000), mimeType: "image/png" }] })).toBeUndefined();
    expect(
      sizes({ content: [{ type: "resource", resource: { uri: "a:b", blob: "A".repeat(500_000) } }] }),
    ).toBeUndefined();
    expect(
      sizes({ content: [{ type: "text", text: "a few words" }], _meta: { big: "A".repeat(9_000) } }),
    ).toBeUndefined();
  });

  test("also where a resource is embedded, and where only structured content is", () => {
    expect(sizes({ content: [{ type: "resource", resource: { uri: "a:b", text: lines } }] })).toBeDefined();
    expect(sizes({ content: [], structuredContent: { rows } })).toBeDefined();
  });

  test("and a text that repeats the structured content counts once", () => {
    const once = sizes({ content: [], structuredContent: { rows } });
    for (const text of [JSON.stringify({ rows }), JSON.stringify({ rows }, null, 2)]) {
      const both = sizes({ content: [{ type: "text", text }], structuredContent: { rows } });
      expect(both?.repetition).toBe("as JSON");
      expect(both?.tokens).toBeLessThan((once?.tokens ?? 0) * 2);
    }
    const other = sizes({ content: [{ type: "text", text: lines }], structuredContent: { rows } });
    expect(other?.repetition).toBe("none");
    for (const structuredContent of [{ content: lines }, { result: lines }])
      expect(sizes({ content: [{ type: "text", text: lines }], structuredContent })?.repetition).toBe(
        "of its only member",
      );
    const wrapped = sizes({
      content: [{ type: "text", text: JSON.stringify(rows) }],
      structuredContent: { result: rows },
    });
    expect(wrapped?.repetition).toBe("of its only member");
  });
});

describe("what is given out of it", () => {
  test("is the note, and then a text up to a line; the kept text goes on there", () => {
    const { written, plan } = cut({ content: [{ type: "text", text: lines, annotations: { priority: 1 } }], x: 1 });
    expect(written.content).toHaveLength(2);
    const [said, first] = written.content;
    expect(first.annotations).toEqual({ priority: 1 });
    expect(lines.startsWith(first.text)).toBe(true);
    expect(first.text.endsWith("\n")).toBe(true);
    expect(said).toEqual({ type: "text", text: "NOTE", _meta: { "toolyard/note": true } });
    expect(written.x).toBe(1);
    expect(textOf(plan)).toBe(lines);
    expect(beginningOf(plan)).toBe(first.text);
    expect(estimateTokens(first.text)).toBeLessThanOrEqual(900);
  });

  test("keeps what is no text where it was, and drops texts behind the cut", () => {
    const image = { type: "image", data: "AAAA", mimeType: "image/png" };
    const { written } = cut({
      content: [
        { type: "text", text: "small" },
        image,
        { type: "text", text: lines },
        image,
        { type: "text", text: "end" },
      ],
    });
    expect(written.content.map((block: { type: string }) => block.type)).toEqual([
      ...["text", "text", "image", "text", "image"],
    ]);
    expect(written.content[0].text).toBe("NOTE");
    expect(written.content[1].text).toBe("small");
  });

  test("of JSON on one line ends behind an element", () => {
    const { written } = cut({ content: [{ type: "text", text: JSON.stringify(rows) }] });
    const shown = written.content[1].text as string;
    expect(JSON.parse(`${shown.trimEnd().slice(0, -1)}]`)).toEqual(rows.slice(0, shown.trimEnd().split("\n").length));
  });

  test("has no structured content for clients that know of none", () => {
    const { written, plan } = cut({
      content: [{ type: "text", text: JSON.stringify({ rows }) }],
      structuredContent: { rows },
    });
    expect(written.structuredContent).toBeUndefined();
    expect(textOf(plan)).toContain("issue number 1999");
  });

  test("has it in its shape for clients that know its schema, and the text says the same", () => {
    const { written, plan } = cut(
      { content: [{ type: "text", text: JSON.stringify({ rows }) }], structuredContent: { rows, total: 2_000 } },
      "shorten",
    );
    expect(written.structuredContent.total).toBe(2_000);
    expect(written.structuredContent.rows.length).toBeGreaterThan(5);
    expect(plan.arrays[0]).toMatchObject({ path: "rows", of: 2_000 });
    const same = cut(
      { content: [{ type: "text", text: JSON.stringify({ rows }, null, 1) }], structuredContent: { rows } },
      "shorten",
    );
    expect(JSON.parse(same.written.content[1].text)).toEqual(same.written.structuredContent);
  });

  test.each([["content"], ["result"], ['a "quoted" name']])(
    "is cut and counted once where the only member %s says the text",
    (name) => {
      const said = { content: [{ type: "text", text: lines }], structuredContent: { [name]: lines } };
      const { written, plan, large } = cut(said, "shorten");
      const shown = written.content[1].text as string;
      expect(written.structuredContent).toEqual({ [name]: shown });
      expect(shown.endsWith("\n")).toBe(true);
      expect(beginningOf(plan)).toBe(shown);
      expect(plan.shownTokens).toBeLessThanOrEqual(1_000);
      expect(large.tokens).toBeLessThan(estimateTokens(lines) * 1.5);
      // Whoever needs all of it for its schema gets it, counted once.
      const kept = cut(said, "keep");
      expect(kept.written.structuredContent).toEqual({ [name]: lines });
      expect(kept.plan.shownTokens).toBeLessThanOrEqual(large.tokens);
    },
  );

  test("is cut and counted once where the only member is a list, and the text is its JSON", () => {
    const said = { content: [{ type: "text", text: JSON.stringify(rows) }], structuredContent: { result: rows } };
    const { written, plan } = cut(said, "shorten");
    const shown = written.structuredContent.result as unknown[];
    expect(shown).toEqual(rows.slice(0, shown.length));
    expect(plan.shownTokens).toBeLessThanOrEqual(1_000);
  });

  test("has structured content that stands alone as text, because it is left out", () => {
    const { plan, written } = cut({ structuredContent: { rows } });
    expect(written.structuredContent).toBeUndefined();
    expect(written.content).toEqual([{ type: "text", text: "NOTE", _meta: { "toolyard/note": true } }]);
    expect(textOf(plan)).toContain("issue number 1999");
  });

  test("keeps a small structured content beside a large text", () => {
    const { written } = cut({ content: [{ type: "text", text: lines }], structuredContent: { count: 3_000 } });
    expect(written.structuredContent).toEqual({ count: 3_000 });
    expect(written.content[1].text.length).toBeGreaterThan(1_000);
  });

  test("of a resource is a content with the note, and its text up to a line", () => {
    const bytes = Buffer.from(JSON.stringify({ contents: [{ uri: "a:b", text: lines }] }));
    const large = atOnce(findOversized({ bytes }, "contents", 1_000));
    if (large === undefined) throw new Error("it fits");
    const plan = atOnce(planCut(large, 1_000, "leave out"));
    // oxlint-disable-next-line typescript/no-explicit-any -- whatever came out
    const written = JSON.parse(writeCut(large, plan, { text: "NOTE", uri: "toolyard://result/x" }).toString()) as any;
    expect(written.contents[1].uri).toBe("a:b");
    expect(written.contents[0]).toEqual({ uri: "toolyard://result/x", mimeType: "text/plain", text: "NOTE" });
  });
});

describe("what cannot be made shorter", () => {
  test("stays whole where its client expects it, and only the text is cut", () => {
    const { written, plan } = cut(
      { content: [{ type: "text", text: JSON.stringify({ rows }) }], structuredContent: { rows } },
      "keep",
    );
    expect(written.structuredContent).toEqual({ rows });
    expect(written.content[1].text.length).toBeLessThan(JSON.stringify({ rows }).length / 2);
    expect(plan.arrays).toEqual([]);
    expect(textOf(plan)).toContain("issue number 1999");
  });

  test("is shared with a text that is large too: both have half of the budget", () => {
    const { written } = cut({ content: [{ type: "text", text: lines }], structuredContent: { rows } }, "shorten");
    const structured = estimateTokens(JSON.stringify(written.structuredContent));
    const text = estimateTokens(written.content[1].text);
    expect(structured).toBeGreaterThan(200);
    expect(text).toBeGreaterThan(200);
    expect(structured + text).toBeLessThanOrEqual(1_000);
  });
});
