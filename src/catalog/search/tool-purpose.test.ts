import { expect, test } from "vitest";
import { sampleInstance } from "../../../test/sample-catalog.ts";
import { buildIndexPart } from "./index/index-part.ts";
import { createLanguage } from "./language.ts";
import { mergeParts, toolAt } from "./index/merge.ts";
import { purposesOf } from "./rank.ts";

test("what a tool does is what its name says, the first time and every time after", () => {
  const language = createLanguage();
  const names = ["list_issues", "create_issue", "edit_issue", "drop_table", "ping", "removeAndList"];
  const offers = ["a", "b"].map((server) =>
    sampleInstance(
      server,
      names.map((name) => ({ name })),
    ),
  );
  const index = mergeParts(
    offers.map((offer) => buildIndexPart(offer, language)),
    language,
  );
  const expected = ["read", "create", "update", "delete", undefined, "delete"];
  for (const _round of [1, 2])
    for (let tool = 0; tool < index.toolCount; tool += 1) {
      expect(purposesOf(index)(tool)).toBe(expected[tool % names.length]);
      expect(purposesOf(index)(tool)).toBe(language.purposes.ofName(toolAt(index, tool).definition.name));
    }
});
