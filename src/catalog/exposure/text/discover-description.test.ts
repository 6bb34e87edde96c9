import { describe, expect, test } from "vitest";
import { cutAtWord, plainDescription, shortDescription } from "./discover-description.ts";
import { estimateTokens } from "./token-estimate.ts";

function short(text: string, maxTokens = 34): string {
  return shortDescription(text, maxTokens).text;
}

describe("shortDescription", () => {
  test("keeps the first sentence and marks that there was more", () => {
    const text =
      "Lists all the open issues of a repository, with their labels and the people who are to work on them. Results come in pages of thirty.";
    expect(short(text)).toBe(
      "Lists all the open issues of a repository, with their labels and the people who are to work on them …",
    );
  });

  test("lets a short first sentence take the second with it", () => {
    expect(short("Creates a comment. Works on issues and pull requests.")).toBe(
      "Creates a comment. Works on issues and pull requests.",
    );
  });

  test("prefers sentences that say how to call", () => {
    const text =
      "Resize a cluster by its id. The service restarts nodes one after the other while it works. At least one of size or num_nodes must be given.";
    expect(short(text)).toBe("Resize a cluster by its id. At least one of size or num_nodes must be given …");
  });

  test("does not end at an abbreviation", () => {
    expect(short("Reads a file, e.g. a log, from disk.")).toBe("Reads a file, e.g. a log, from disk.");
  });

  test("takes off headings, emphasis, links, code fences and tags, and keeps placeholders", () => {
    expect(short("# Search\n\n**Finds** [pages](https://example.org/x) at /repos/<owner>/x.")).toBe(
      "Finds pages at /repos/<owner>/x.",
    );
    expect(short("<usecase>Query the index.</usecase>")).toBe("Query the index.");
    expect(short("Run it.\n```json\n{}\n```")).toBe("Run it.");
  });

  test("cuts a long first sentence between words", () => {
    const text = short(`Searches ${"very ".repeat(100)}long.`, 20);
    expect(text).toMatch(/^Searches( very)+…$/);
    expect(estimateTokens(text)).toBeLessThanOrEqual(20);
  });

  test("cuts text without spaces too", () => {
    const text = short("本工具用于查询指定城市的天气预报".repeat(20), 20);
    expect(text.endsWith("…")).toBe(true);
    expect(estimateTokens(text)).toBeLessThanOrEqual(21);
    expect(short("查询天气。返回温度。")).toBe("查询天气。 返回温度。");
  });

  test("FAULT 40: hidden characters go, and are flagged", () => {
    expect(shortDescription("Sends\u200b mail.\u{e0041}", 34)).toEqual({
      text: "Sends mail.",
      flagged: true,
    });
  });

  test.each(["", "   \n ", "---", "```", "# "])("finds nothing in %j", (text) => {
    expect(short(text)).toBe("");
  });

  test("takes hostile text", () => {
    for (const unit of ["[", "<a></a>", "\n", "# ", "e.g. ", "**", "\\", "a.", "​"]) short(unit.repeat(50_000));
  });
});

test("plainDescription keeps all of it on one line", () => {
  expect(plainDescription("One.\n\n- two\n- three").text).toBe("One. - two - three");
});

test("cutAtWord leaves what fits", () => {
  expect(cutAtWord("two words", 10)).toBe("two words");
});
