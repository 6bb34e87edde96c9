import { expect, test } from "vitest";
import { createPinoLog } from "../telemetry/pino-log.ts";
import { toRedactedJson } from "./redacted-value.ts";
import { createRedaction } from "./redaction.ts";
import { createRowRedaction } from "../calls/row-redaction.ts";

const secret = `CANARY-${"5e1f77aa90bc".repeat(20)}`;
const known = new Set([secret]);
const { said, text } = createRedaction({ secrets: () => known });
const key = `ghp_${"aB3x".repeat(9)}`;
const long = 16_384;

test("FAULT J: wherever a long text of a peer is cut, nothing of a secret is left", () => {
  for (const hidden of [
    secret,
    key,
    `token=${key}`,
    `Bearer ${"a1".repeat(3_000)}`,
    `postgres://ada:${"p".repeat(300)}@db`,
  ]) {
    const value = hidden.replace(/^token=|^Bearer |^postgres:..ada:|@db$/g, "");
    for (let before = long - hidden.length - 40; before < long + 10; before += 7) {
      const shown = said(`${"x ".repeat(before / 2)}${hidden} ${"y ".repeat(10_000)}`);
      for (let length = 6; length <= value.length; length += 50)
        expect(shown).not.toContain(value.slice(0, length).padEnd(6, "?"));
      expect(shown).toMatch(/… \(\d+ characters\)$/);
    }
  }
  // A long secret that is replaced does not move the end of the looked-at text into view.
  expect(
    said(`${"a1".repeat(1)} Bearer ${"a1".repeat(7_900)} ${"z ".repeat(280)}${key} more ${"z".repeat(9_000)}`),
  ).not.toContain("ghp_");
});

test("a text of any size costs what its beginning does, and a short one is the same text", () => {
  for (const piece of [
    "bearer+",
    " : : :",
    "a",
    "漢",
    "\u202E",
    "\u0000",
    "-----BEGIN PRIVATE KEY-----",
    '"password":"',
  ])
    expect(said(piece.repeat(Math.ceil(4_000_000 / piece.length))).length).toBeLessThan(long + 40);
  expect(said("short")).toBe("short");
  expect(said("x".repeat(long))).toBe("x".repeat(long));
});

test("FAULT J: long texts in values, rows and log entries are cut, and what is around them stays", () => {
  const value = { name: "a", deep: [{ text: `${"x ".repeat(9_000)}${secret}` }], n: 1 };
  const clean = JSON.parse(toRedactedJson(value, text)) as typeof value;
  expect(clean).toMatchObject({ name: "a", n: 1 });
  expect(clean.deep[0]?.text).toMatch(/x … \(18\d+ characters\)$/);
  const lines: string[] = [];
  const log = createPinoLog({ level: "info", redact: text, write: (line) => void lines.push(line) });
  log.error(
    { component: "x", said: value, err: new Error(`${"e".repeat(2e6)}${secret}`) },
    `${"m ".repeat(1e6)}${secret}`,
  );
  log.debug({ component: "x" }, "m".repeat(1e6));
  expect(lines).toHaveLength(1);
  expect(lines[0]?.length).toBeLessThan(4 * long);
  expect(JSON.parse(lines[0] as string)).toMatchObject({ level: "error", component: "x", said: { name: "a" } });
  const redact = createRowRedaction({ said });
  const row = redact("log", { line: `${"x ".repeat(1e6)}${secret}` } as never) as { readonly line: string };
  expect(row.line.length).toBeLessThan(long + 40);
});
