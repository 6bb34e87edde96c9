import { expect, test } from "vitest";
import { createPinoLog } from "./pino-log.ts";
import { createRedaction } from "../redaction/redaction.ts";

function open(secrets: readonly string[], level = "debug") {
  const lines: string[] = [];
  const known = new Set(secrets);
  const redaction = createRedaction({ secrets: () => known });
  return {
    lines,
    log: createPinoLog({ level, redact: redaction.text, write: (line) => void lines.push(line) }),
  };
}

test("FAULT J: a secret is in no line, whatever field it stands in and however JSON writes it", () => {
  const secrets = ["s3cret-value", 'quo"ted\\secret', "line\nbreak-secret"];
  const { lines, log } = open(secrets);
  for (const secret of secrets) {
    log.error(
      { component: "x", detail: { deep: [secret] }, err: new Error(`failed with ${secret}`) },
      `said ${secret}`,
    );
  }
  for (const line of lines) {
    expect(JSON.parse(line)).toMatchObject({ level: "error", component: "x" });
    for (const secret of secrets) expect(line).not.toContain(JSON.stringify(secret).slice(1, -1));
  }
  expect(lines.join("")).toContain("[redacted]");
});

test("FAULT J: line breaks and terminal escapes in a field stay one JSON line", () => {
  const { lines, log } = open([]);
  log.info({ component: "x", server: "a\r\nb" }, "\u001B[31mred\u001B[0m\nforged: line");
  expect(lines).toHaveLength(1);
  for (const raw of ["\r", "\u001B", "\nforged"]) expect(lines[0]).not.toContain(raw);
});

test("the level decides what is written", () => {
  const { lines, log } = open([], "warn");
  log.debug({ component: "x" }, "no");
  log.info({ component: "x" }, "no");
  log.warn({ component: "x" }, "yes");
  expect(lines).toHaveLength(1);
});
