import * as fc from "fast-check";
import { expect, test } from "vitest";
import { JsonOutline } from "./json-outline.ts";
import { findMember, scanElements, scanMembers, type Member } from "./json-scan.ts";
import { checkJson } from "./json-validity.ts";

function outlineOf(text: string, most = 1_000): JsonOutline {
  const bytes = Buffer.from(text);
  const outline = new JsonOutline(bytes, { list: "content", names: ["type", "uri"], most });
  for (const _slice of checkJson(bytes, 100, { outline }));
  return outline;
}

const spanOf = ({ key, keyStart, start, end }: Member): unknown => ({ key, keyStart, start, end });

/** What the scanner finds in several passes. */
function scanned(text: string): unknown {
  const bytes = Buffer.from(text);
  const members = scanMembers(bytes, 0, bytes.length, 100);
  const content = findMember(members, "content");
  const isList = content !== undefined && bytes[content.start] === 0x5b;
  const elements = isList ? scanElements(bytes, content.start, content.end, 100, 1_000) : undefined;
  return {
    members: members.map(spanOf),
    elements: elements?.map(({ start, end }) => {
      const own = bytes[start] === 0x7b ? scanMembers(bytes, start, end, 100) : [];
      const wanted = ["type", "uri"].flatMap((name) => findMember(own, name) ?? []);
      return { start, end, members: wanted.map(spanOf) };
    }),
  };
}

function noted({ members, elements }: JsonOutline): unknown {
  const inOrder = (found: ReadonlyMap<string, Member>): readonly Member[] =>
    ["type", "uri"].flatMap((name) => found.get(name) ?? []);
  return {
    members: members.map(spanOf),
    elements: elements?.map(({ start, end, members: own }) => ({ start, end, members: inOrder(own).map(spanOf) })),
  };
}

const names = fc.constantFrom("type", "uri", "content", "text", "ty\u0070e", 'q"\\', "é");
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom("", '"}],{', 1, true, null, "Привет"),
    fc.array(tie("any"), { maxLength: 4 }),
    fc.dictionary(names, tie("any"), { maxKeys: 4 }),
  ),
})).any;

test("is what a scanner finds in several passes, whatever the value, its white space and its names are", () => {
  const object = fc.dictionary(names, value, { maxKeys: 5 });
  const list = fc.record({ content: fc.array(object, { maxLength: 4 }), rest: value });
  fc.assert(
    fc.property(fc.oneof(object, list), fc.constantFrom(undefined, 1, "\t"), (whole, space) => {
      const text = JSON.stringify(whole, undefined, space);
      expect(noted(outlineOf(text))).toEqual(scanned(text));
    }),
    { numRuns: 500 },
  );
});

test.each([
  '{"content":[{"type":"a"}],"content":[{"type":"b"},1]}',
  '{"content":[{"type":"a"}],"content":{"type":"b"}}',
  '{"cont\\u0065nt":[{"typ\\u0065":"a","type":"b","uri":[{"type":"c"}]}],"x":[{"type":"d"}]}',
  '{"content":[[{"type":"a"}],[{}],{"x":{"type":"b"}}]}',
  '{"x":{"content":[{"type":"a"}]}}',
])("names that are there twice, spelled with escapes or deeper in are taken as the scanner does: %s", (text) => {
  expect(noted(outlineOf(text))).toEqual(scanned(text));
});

test("notes no more elements than it was told to", () => {
  const many = `{"content":[${Array(50).fill('{"type":"text"}').join(",")}],"last":1}`;
  const outline = outlineOf(many, 6);
  expect(outline.elements).toHaveLength(6);
  expect(outline.members.map(({ key }) => key)).toEqual(["content", "last"]);
});
