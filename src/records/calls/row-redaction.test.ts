import { expect, test } from "vitest";
import { requestOf } from "../../../test/harness/records.ts";
import type { ServerLogLine } from "../../store/record-rows.ts";
import { createRedaction } from "../redaction/redaction.ts";
import { createRowRedaction } from "./row-redaction.ts";

const known = new Set(["CANARY-5e1f77"]);
const clean = createRowRedaction(createRedaction({ secrets: () => known }));
const row: ServerLogLine = { id: 1, atMs: 0, team: null, instance: "a", server: "a", level: "info", line: "fine" };

test("FAULT J: a log message of a server is kept without secrets, also where it was cut", () => {
  expect(clean("log", { ...row, line: "is CANARY-5e1f77." }).line).toBe("is [redacted].");
  expect(clean("log", { ...row, line: "is CANARY-5" }).line).toBe("is [redacted]");
});

test("a row without secrets is the same row", () => {
  expect(clean("log", row)).toBe(row);
});

test("a secret that is known since the last batch is taken out of the next one, under the same name too", async () => {
  const secrets = new Set<string>();
  const redact = createRowRedaction(createRedaction({ secrets: () => secrets }));
  const call = requestOf({ nextId: () => 1 }, { name: "file:///of/CANARY-0d22" });
  expect(redact("request", call)).toBe(call);
  secrets.add("CANARY-0d22");
  await Promise.resolve();
  expect(redact("request", call).name).toBe("file:///of/[redacted]");
});
