import { expect, test } from "vitest";
import { keepingOf } from "./record-keeping.ts";

test("records are kept for days, and the audit for ever unless it is given some", () => {
  const records = { store: "sqlite", audit: "on", keepDays: 2, keepCalls: 1_000, keepAuditDays: 0 } as const;
  expect(keepingOf({ records, database: "postgres://db/yard" })).toEqual({
    database: "postgres://db/yard",
    keepMs: 172_800_000,
    keepCalls: 1_000,
    keepAuditMs: Number.POSITIVE_INFINITY,
  });
  expect(keepingOf({ records: { ...records, keepAuditDays: 365 }, database: undefined }).keepAuditMs).toBe(
    365 * 86_400_000,
  );
});
