import { expect, test } from "vitest";
import type { ServerSlug } from "../../kernel/ids.ts";
import { toNativeUri } from "../model/resource-uri.ts";
import { parseKeptUri, toKeptUri, type KeptPage } from "./kept-uri.ts";

const id = "AbCdEfGhIjKlMnOpQrSt_-";

test("a page of a kept result is read back from its URI", () => {
  const pages: readonly KeptPage[] = [
    { kind: "part", part: 3 },
    { kind: "match", text: "a b&c=d/ä?", fromLine: 1 },
    { kind: "match", text: "error", fromLine: 1_200 },
  ];
  for (const page of pages) expect(parseKeptUri(toKeptUri(id, page))).toEqual({ id, page });
  expect(parseKeptUri(toKeptUri(id))).toEqual({ id, page: { kind: "part", part: 1 } });
});

test("numbers that are none count as the first", () => {
  for (const query of ["part=", "part=0", "part=-1", "part=x", "part=1e3", "match=", "other=1"])
    expect(parseKeptUri(`toolyard://result/${id}?${query}`)).toEqual({ id, page: { kind: "part", part: 1 } });
});

test("no resource of a server called result is taken for one", () => {
  for (const own of ["file:///a", "x:y", `kept:${id}`])
    expect(parseKeptUri(toNativeUri("result" as ServerSlug, own))).toBeUndefined();
  for (const uri of ["toolyard://result/", "toolyard://result/short", "toolyard://results/x", `result|${id}`])
    expect(parseKeptUri(uri)).toBeUndefined();
});
