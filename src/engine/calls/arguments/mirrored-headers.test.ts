import { expect, test } from "vitest";
import { toCallArguments } from "../../../kernel/call/call-context.ts";
import { headerValue } from "./mirrored-headers.ts";

test.each([
  ['{"n":9007199254740993}', ["n"], "9007199254740993"],
  ['{"n":1e2,"n": 42.0 }', ["n"], "42.0"],
  ['{"ä":{"n":-0}}', ["ä", "n"], "-0"],
  ['{"n":"07"}', ["n"], "07"],
  ['{"n":true}', ["n"], "true"],
  ['{"n":null}', ["n"], undefined],
  ["{}", ["n"], undefined],
] as const)("of %s, %j is mirrored as %s", (text, path, expected) => {
  expect(headerValue(path, toCallArguments(Buffer.from(text)))).toBe(expected);
});
