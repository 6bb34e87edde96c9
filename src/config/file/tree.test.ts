import fc from "fast-check";
import { parseTree, type Node } from "jsonc-parser";
import { expect, test } from "vitest";
import { allSteps } from "../../kernel/runtime/slices.ts";
import { parsingTree } from "./tree.ts";

/** Without the way back to the parent, which is not used. */
function plain(node: Node): object {
  const { parent: _parent, children, ...rest } = node;
  return children === undefined ? rest : { ...rest, children: children.map(plain) };
}

/** Between values, and behind the last one of a list. */
const blanks = ["", " ", "\n", "\r\n", "\t", "/* , { */", "// ]\n"];

const texts = fc.tuple(fc.json({ maxDepth: 6 }), fc.infiniteStream(fc.constantFrom(...blanks))).map(([json, blank]) =>
  json.replace(/"(?:[^"\\]|\\.)*"|[[\]{},:]/g, (token) => {
    const comma = /[\]}]/.test(token) && blank.next().value === " " ? "," : "";
    return `${blank.next().value}${comma}${token}${blank.next().value}`;
  }),
);

function treeOrCode(text: string): object {
  const tree = allSteps(parsingTree(text));
  return "code" in tree ? tree : plain(tree);
}

test("a text without mistakes has the library's tree", () => {
  fc.assert(
    fc.property(texts, (text) => {
      const errors: unknown[] = [];
      const library = parseTree(text, errors as never, { allowTrailingComma: true });
      // A comma in an empty list is a mistake to both.
      if (errors.length > 0) expect(treeOrCode(text)).toHaveProperty("code");
      else expect(treeOrCode(text)).toEqual(plain(library as Node));
    }),
    { numRuns: 500 },
  );
});

test("a text with a character too few or too many is wrong to both, or to neither", () => {
  const changes = fc.tuple(texts, fc.nat(), fc.constantFrom("", "{", "}", "[", "]", ",", ":", '"', "x", "1", "/"));
  fc.assert(
    fc.property(changes, ([text, at, sign]) => {
      const place = at % (text.length + 1);
      const changed = text.slice(0, place) + sign + text.slice(place + (sign === "" ? 1 : 0));
      const errors: unknown[] = [];
      parseTree(changed, errors as never, { allowTrailingComma: true });
      expect("code" in treeOrCode(changed)).toBe(errors.length > 0);
    }),
    { numRuns: 2_000 },
  );
});

test("no step is longer than some hundred tokens", () => {
  const steps = [...parsingTree(`{"a":[${"1,".repeat(50_000)}]}`)].length;
  expect(steps).toBeGreaterThan(100);
});
