import { expect, test } from "vitest";
import { ResultBytes } from "../result-bytes.ts";
import { fitResult, resultShape } from "./result-shapes.ts";
import { Notes } from "./shape.ts";

function resultOf(text: string, method = "tools/call"): ResultBytes {
  const notes = new Notes();
  resultShape(method, "x://a")?.(JSON.parse(text), notes);
  return new ResultBytes(Buffer.from(text), undefined, undefined, { needs: notes.needs, oddity: undefined });
}

const fitted = (text: string, revision: string, method?: string): string =>
  fitResult(resultOf(text, method), revision).bytes.toString();

test("a value that is no object is left out before 2026-07-28, and every other byte stays", () => {
  const rest = '"content" : [{"type":"text","text":"x"}], "n":1.0,"big":9007199254740993';
  for (const value of ["null", "[1]", "7", '"x"']) {
    const text = `{"resultType":"complete",${rest},"structuredContent":${value}}`;
    expect(fitted(text, "2025-11-25")).toBe(`{"resultType":"complete",${rest.replace(", ", ",")}}`);
    expect(fitted(text, "2026-07-28")).toBe(text);
  }
});

test("such a value is text where nothing else says it", () => {
  const image = '{"type":"image","data":"aGk=","mimeType":"image/png"}';
  const text = `{"resultType":"complete","content":[${image}],"structuredContent":[9007199254740993]}`;
  expect(fitted(text, "2025-06-18")).toContain('{"type":"text","text":"[9007199254740993]"}]');
});

test("a block of a type that came later is text for clients of older revisions, and no other client's", () => {
  const audio = '{"type":"audio","data":"aGk=","mimeType":"audio/wav"}';
  const link = '{"type":"resource_link","uri":"x://a","name":"a"}';
  const call = `{"content":[${audio},${link}]}`;
  const types = (text: string): string[] =>
    (JSON.parse(text) as { content: { type: string }[] }).content.map(({ type }) => type);
  expect(types(fitted(call, "2024-11-05"))).toEqual(["text", "text"]);
  expect(types(fitted(call, "2025-03-26"))).toEqual(["audio", "text"]);
  expect(fitted(call, "2025-06-18")).toBe(call);
  const prompt = `{"messages":[{"role":"user","content":${link}}]}`;
  expect(fitted(prompt, "2025-03-26", "prompts/get")).toContain('"content":{"type":"text","text":"{');
});

test("what every revision can hold is the same object", () => {
  const result = resultOf('{"content":[{"type":"text","text":"x"}],"structuredContent":{}}');
  expect(fitResult(result, "2024-11-05")).toBe(result);
});
