import { expect, test } from "vitest";
import type { ServerSlug } from "../../../kernel/ids.ts";
import { JsonOutline } from "../../../wire/json/json-outline.ts";
import { checkJson } from "../../../wire/json/json-validity.ts";
import { ResultBytes } from "../../../wire/mcp/result-bytes.ts";
import { rewriteContents, rewriteLinks } from "./links.ts";

const server = "srv" as ServerSlug;

/** Of a result that nobody has looked at, which must be the same as of one that was looked over. */
function links(text: string): string {
  const bytes = Buffer.from(text);
  const rewritten = rewriteLinks(new ResultBytes(bytes), server).bytes.toString("utf8");
  const outline = new JsonOutline(bytes, { list: "content", names: ["type"], most: 10 });
  for (const _slice of checkJson(bytes, 100, { outline }));
  expect(rewriteLinks(new ResultBytes(bytes, undefined, outline), server).bytes.toString("utf8")).toBe(rewritten);
  return rewritten;
}

test("only the URIs of links and embedded resources change; every other byte stays", () => {
  expect(
    links(
      '{ "n":9007199254740993, "content":[{"uri":"a:\\u002F/b","type":"resource_link","x":-0},{"type":"resource","resource":{"uri":"ui://v/1","text":"漢"}},{"type":"text","text":"a://b"}] , "uri":"a://b"}',
    ),
  ).toBe(
    '{ "n":9007199254740993, "content":[{"uri":"toolyard://srv/a%3A%2F%2Fb","type":"resource_link","x":-0},{"type":"resource","resource":{"uri":"ui://srv/v/1","text":"漢"}},{"type":"text","text":"a://b"}] , "uri":"a://b"}',
  );
});

test("prompts: content that is one block, or several", () => {
  const link = '{"type":"resource_link","uri":"a:b"}';
  const there = '{"type":"resource_link","uri":"toolyard://srv/a%3Ab"}';
  expect(links(`{"messages":[{"role":"user","content":${link}},{"role":"user","content":[${link},${link}]},7]}`)).toBe(
    `{"messages":[{"role":"user","content":${there}},{"role":"user","content":[${there},${there}]},7]}`,
  );
});

test("a result without links is the very same", () => {
  const result = new ResultBytes(Buffer.from('{"content":[{"type":"text","text":"x"}]}'));
  expect(rewriteLinks(result, server)).toBe(result);
});

test("shapes that are no links are left alone", () => {
  for (const text of [
    '{"content":[{"type":"resource_link"}]}',
    '{"content":[{"type":"resource_link","uri":7}]}',
    '{"content":[{"type":"resource","resource":"x"}]}',
    '{"content":{"a":"resource"}}',
    '{"structuredContent":{"type":"resource_link","uri":"a:b"}}',
    '{"content":["resource",null]}',
  ])
    expect(links(text)).toBe(text);
});

test("only who holds an address of a resource is looked at closely, and loses nothing by it", () => {
  const text = 'it\'s a \\"resource\\", he said\\n'.repeat(10_000);
  const plain = new ResultBytes(Buffer.from(`{"content":[{"type":"text","text":"${text}"}]}`));
  expect(rewriteLinks(plain, server)).toBe(plain);
  const link = '{"type":"resource_link","uri":"a:b"}';
  expect(links(`{"content":[{"type":"text","text":"${text}"},${link}]}`)).toBe(
    `{"content":[{"type":"text","text":"${text}"},{"type":"resource_link","uri":"toolyard://srv/a%3Ab"}]}`,
  );
});

test("of equal members the last one is the link, as for JSON.parse", () => {
  expect(
    JSON.parse(links('{"content":[{"type":"resource_link","uri":"first:x","uri":"last:x"}]}')).content[0].uri,
  ).toBe("toolyard://srv/last%3Ax");
});

test("contents of resources/read", () => {
  expect(
    rewriteContents(
      Buffer.from('{"contents":[{"uri":"a:b","text":"resource"},{"uri":"c:d","blob":"AA=="}]}'),
      server,
    ).toString(),
  ).toBe(
    '{"contents":[{"uri":"toolyard://srv/a%3Ab","text":"resource"},{"uri":"toolyard://srv/c%3Ad","blob":"AA=="}]}',
  );
});
