import { expect, test } from "vitest";
import { readPieces } from "./result-pieces.ts";

const bytes = Buffer.from([0, 255, 1]);

test("every kind of block becomes what a person can use", () => {
  const { pieces, isError } = readPieces(
    JSON.stringify({
      content: [
        { type: "text", text: "one\ntwo" },
        { type: "image", mimeType: "image/png", data: bytes.toString("base64") },
        { type: "audio", data: "" },
        { type: "resource_link", uri: "file:///x", name: "x", mimeType: "text/plain" },
        { type: "resource", resource: { uri: "a://b", text: "inside" } },
        { type: "resource", resource: { uri: "a://c", mimeType: "application/zip", blob: bytes.toString("base64") } },
      ],
    }),
  );
  expect(isError).toBe(false);
  expect(pieces).toEqual([
    { kind: "text", text: "one\ntwo" },
    { kind: "binary", what: "image", mimeType: "image/png", bytes },
    { kind: "binary", what: "audio", mimeType: "application/octet-stream", bytes: Buffer.alloc(0) },
    { kind: "link", uri: "file:///x", about: "x, text/plain" },
    { kind: "text", text: "inside" },
    { kind: "binary", what: "a://c", mimeType: "application/zip", bytes },
  ]);
});

test("structured content is shown with all its digits, and only where there is no text", () => {
  const structured = '{"structuredContent":{"n":9007199254740993,"z":-0,"list":[1]}';
  expect(readPieces(`${structured}}`).pieces).toEqual([
    { kind: "text", text: '{\n  "n": 9007199254740993,\n  "z": -0,\n  "list": [\n    1\n  ]\n}' },
  ]);
  const texts = readPieces(`${structured},"content":[{"type":"text","text":"said"}]}`).pieces;
  expect(texts).toEqual([{ kind: "text", text: "said" }]);
});

test.each(['{"content":[7,null,{"type":"new","x":1}]}', '{"content":"text"}', "[]", "null", '{"contents":[{}]}'])(
  "%s is shown as far as it says anything",
  (json) => expect(() => readPieces(json)).not.toThrow(),
);

test("blocks that nobody knows are shown as JSON, and a failed tool is told", () => {
  expect(readPieces('{"isError":true,"content":[{"type":"new","x":1}]}')).toEqual({
    isError: true,
    pieces: [{ kind: "text", text: '{\n  "type": "new",\n  "x": 1\n}' }],
  });
});
