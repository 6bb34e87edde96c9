import { describe, expect, test } from "vitest";
import { allSteps } from "../../kernel/runtime/slices.ts";
import { createKnownSecrets } from "../../records/redaction/known-secrets.ts";
import { searchingSecrets, windowBytes, type FoundSecrets } from "./secret-search.ts";

const secret = 'a"b\\c<d>é7xQz';
const own = "own-secret-of-this-server";
const known = createKnownSecrets(new Set([secret, own, `${own}-and-more`, "4711471147"]));

function search(bytes: Buffer, hasShapes = false): FoundSecrets {
  const judge = (value: string) => ({ isOwn: value === own, name: "NAME of other" });
  return allSteps(searchingSecrets(bytes, { known, hasShapes, judge }));
}

const inJson = JSON.stringify(secret).slice(1, -1);

describe("a secret", () => {
  test("is found at every place around the border of two windows, and the rest is whole", () => {
    for (const before of ["x", "é", "\\n"]) {
      for (let at = windowBytes - 60; at <= windowBytes + 20; at += 1) {
        const filled = before.repeat(Math.floor((at - 2) / Buffer.byteLength(before)));
        const { clean, names } = search(Buffer.from(`["${filled}${inJson}rest"]`));
        expect(names).toEqual(["NAME of other"]);
        expect(clean.toString().endsWith('[redacted]rest"]')).toBe(true);
        JSON.parse(clean.toString());
      }
    }
  });

  test("is found with escapes for any of its characters, and beside others", () => {
    const escaped = Array.from(secret, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
    const mixed = inJson.replace("<", "\\u003c").replace(">", "\\u003E");
    for (const written of [escaped, mixed, JSON.stringify(inJson).slice(1, -1)]) {
      const { clean } = search(Buffer.from(`["\\u0041 ${written} \\u0041"]`));
      expect(clean.toString()).toBe('["\\u0041 [redacted] \\u0041"]');
    }
  });

  test("that is a number is a number afterwards, in a text and alone", () => {
    const { clean } = search(Buffer.from('{"a":4711471147,"b":"no 4711471147"}'));
    expect(JSON.parse(clean.toString())).toEqual({ a: 1_111_111_111, b: "no 1111111111" });
  });

  test("of the server itself stays, and so does a part of it; the longer one is another's", () => {
    const bytes = Buffer.from(JSON.stringify({ a: own, b: "nothing" }));
    expect(search(bytes).clean).toBe(bytes);
    expect(search(Buffer.from(JSON.stringify(`${own}-and-more`))).clean.toString()).toBe('"[redacted]"');
  });

  test("a million times in a text is replaced a million times, in time proportional to the text", () => {
    const { clean, names } = search(Buffer.from(`"${"4711471147 ".repeat(1_000_000)}"`));
    expect(names).toHaveLength(1);
    expect(clean.includes("4711471147")).toBe(false);
  });
});

test("a text that looks like a key is noticed and stays", () => {
  const bytes = Buffer.from(`{"password":"in plain","url":"postgres://u:p@h","k":"AKIA${"A1B2".repeat(4)}"}`);
  expect(search(bytes, true)).toMatchObject({ hasShape: true, names: [], clean: bytes });
  expect(search(bytes).hasShape).toBe(false);
  expect(search(Buffer.from('{"password":"in plain","url":"postgres://user:pass@host"}'), true).hasShape).toBe(false);
});
