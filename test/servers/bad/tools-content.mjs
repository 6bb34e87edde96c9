// Results: every kind of content, too much of it, and shapes that the specification does not allow.

import { audio, image, text } from "./content.mjs";

/** @type {Record<string, import("./tools.mjs").Tool>} */
export const contentTools = {
  image: { description: "Returns a picture", run: ({ answerWith }) => answerWith(image) },
  audio: { description: "Returns a sound", run: ({ answerWith }) => answerWith(audio) },
  link: {
    description: "Returns a resource_link to `uri` (default bad://text)",
    run: ({ answerWith, args }) =>
      answerWith({
        type: "resource_link",
        uri: args.uri ?? "bad://text",
        name: "linked",
        "x-kept": 1,
      }),
  },
  embedded: {
    description: "Returns an embedded resource with `uri` (default bad://text)",
    run({ answerWith, args }) {
      answerWith({
        type: "resource",
        resource: { uri: args.uri ?? "bad://text", mimeType: "text/plain", text: "embedded" },
      });
    },
  },
  big: {
    description: "Returns `blocks` (1) blocks of `bytes` (1 MiB) each; `kind`: text or image",
    run({ answer, args }) {
      const data = "QUFB".repeat(Math.ceil((args.bytes ?? 2 ** 20) / 4));
      const block = args.kind === "image" ? { ...image, data } : text(data);
      const blockText = JSON.stringify(block);
      answer(`{"content":[${Array.from({ length: args.blocks ?? 1 }, () => blockText).join(",")}]}`);
    },
  },
  text: {
    description: "Returns `text`: for ANSI, markup, bidi, NUL",
    run: ({ say, args }) => say(String(args.text ?? "")),
  },
  numbers: {
    description: "Returns numbers that JavaScript alters: 2^53+1, -0, 1e400, many digits",
    run: ({ answer }) =>
      answer(
        '{"content":[{"type":"text","text":"numbers"}],"structuredContent":{"big":9007199254740993,"negativeZero":-0,"huge":1e400,"digits":0.10000000000000000555,"exponent":1E+2}}',
      ),
  },
  "key-order": {
    description: "Returns keys in an order, and spelled in a way, that parsing would change",
    run: ({ answer }) =>
      answer(
        '{"structuredContent":{"b":1,"a":2,"2":3,"1":4,"esc":"\\u0041\\/"},"content":[{"text":"keys","type":"text"}]}',
      ),
  },
  "duplicate-keys": {
    description: "Returns an object with the same key twice",
    run: ({ answer }) => answer('{"content":[{"type":"text","text":"first","text":"second"}]}'),
  },
  "unknown-fields": {
    description: "Returns fields, a content type and _meta keys that nobody has heard of",
    run: ({ answer }) =>
      answer({
        content: [
          { ...text("known"), "x-block": { deep: [1] } },
          { type: "hologram", frames: 3 },
        ],
        "x-result": true,
        _meta: { "vendor.example/trace": "kept" },
      }),
  },
  "reserved-meta": {
    description: "Returns _meta keys that only the protocol may set",
    run: ({ answer }) =>
      answer({
        content: [text("reserved")],
        _meta: {
          "io.modelcontextprotocol/serverInfo": { name: "somebody-else", version: "0" },
          "io.modelcontextprotocol/subscriptionId": 1,
        },
      }),
  },
  "structured-mismatch": {
    description: "Returns structuredContent that does not fit its outputSchema",
    outputSchema: {
      type: "object",
      properties: { count: { type: "number" } },
      required: ["count"],
    },
    run: ({ answer }) => answer({ content: [text("three")], structuredContent: { count: "three" } }),
  },
  "structured-missing": {
    description: "Has an outputSchema and returns no structuredContent",
    outputSchema: {
      type: "object",
      properties: { count: { type: "number" } },
      required: ["count"],
    },
    run: ({ answer }) => answer({ content: [text("three")] }),
  },
  deep: {
    description: "Returns `depth` (5000) nested arrays",
    run({ answer, args }) {
      const depth = args.depth ?? 5_000;
      answer(`{"content":[],"structuredContent":{"deep":${"[".repeat(depth)}${"]".repeat(depth)}}}`);
    },
  },
  "proto-result": {
    description: "Returns __proto__ and constructor keys",
    run: ({ answer }) =>
      answer(
        '{"content":[],"structuredContent":{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}}}',
      ),
  },
  "no-content": {
    description: "Returns a result without content",
    run: ({ answer }) => answer("{}"),
  },
  "content-object": {
    description: "Returns content that is an object",
    run: ({ answer }) => answer('{"content":{"type":"text","text":"x"}}'),
  },
  "content-string": {
    description: "Returns content that is a string",
    run: ({ answer }) => answer('{"content":"x"}'),
  },
  "content-null-block": {
    description: "Returns null for a content block",
    run: ({ answer }) => answer('{"content":[null]}'),
  },
  "text-object": {
    description: "Returns text that is an object",
    run: ({ answer }) => answer('{"content":[{"type":"text","text":{"a":1}}]}'),
  },
  "image-without-data": {
    description: "Returns a picture without data",
    run: ({ answer }) => answer('{"content":[{"type":"image"}]}'),
  },
  "is-error-string": {
    description: "Returns isError that is a string",
    run: ({ answer }) => answer('{"content":[],"isError":"false"}'),
  },
  "result-string": {
    description: "Answers with a result that is a string",
    run: answerRaw('"result":"done"'),
  },
  "result-null": {
    description: "Answers with a result that is null",
    run: answerRaw('"result":null'),
  },
  "no-result": {
    description: "Answers with neither result nor error",
    run: answerRaw('"nothing":true'),
  },
  "result-and-error": {
    description: "Answers with both a result and an error",
    run: answerRaw('"result":{"content":[]},"error":{"code":-32603,"message":"both"}'),
  },
  "error-string": {
    description: "Answers with an error that is a string",
    run: answerRaw('"error":"failed"'),
  },
};

function answerRaw(members) {
  return ({ finish, id }) => finish(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},${members}}`);
}
