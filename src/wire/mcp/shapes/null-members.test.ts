import { expect, test } from "vitest";
import { withoutNullMembers } from "./null-members.ts";

const cleaned = (text: string): string => withoutNullMembers(Buffer.from(text)).toString();

test("members that are null are left out at any depth; values of the server's own and numbers stay", () => {
  expect(
    cleaned(
      '{"systemPrompt":null,"messages":[{"role":"user","content":{"type":"text","text":"null","annotations":null}}],' +
        '"maxTokens":9007199254740993,"metadata":{"seed":null},"_meta":{"own":null}}',
    ),
  ).toBe(
    '{"messages":[{"role":"user","content":{"type":"text","text":"null"}}],' +
      '"maxTokens":9007199254740993,"metadata":{"seed":null},"_meta":{"own":null}}',
  );
});

test("params without null, and what is no object, stay the bytes that they were", () => {
  for (const text of ['{ "a" : 1 }', "null", "[null]", '{"a":nulL}']) expect(cleaned(text)).toBe(text);
});
