import { expect, test } from "vitest";
import { instanceStatuses } from "../../../kernel/status-words.ts";
import { unavailableLine, type ServerCondition } from "./discover-servers.ts";

test.each<[status: ServerCondition, reason: RegExp, action: RegExp]>([
  ["not_found", /no server/, /empty query/],
  ["connecting", /starting/, /few seconds/],
  ["requires_reauth", /login/, /toolyard login github/],
  ["dormant", /stopped while idle/, /as usual/],
  ["permanently_failed", /failed too often/, /toolyard restart github/],
  ["search_failed", /searched/, /Search again/],
])("%s has its own answer", (status, reason, action) => {
  const line = unavailableLine({ server: "github", status });
  expect(line).toMatchObject({ server: "github", status });
  expect(line.reason).toMatch(reason);
  expect(line.action).toMatch(action);
});

test("every status says why and what to do", () => {
  for (const status of instanceStatuses) {
    const line = unavailableLine({ server: "github", status });
    expect(line.reason).not.toBe("");
    expect(line.action).not.toMatch(/^$|\{server\}/);
  }
});

test("FAULT 40: a reason from outside is shown without hidden characters, and short", () => {
  const { reason } = unavailableLine({
    server: "x",
    status: "error",
    reason: `\x1b[31mspawn ENOENT\x1b[0m ${"and more ".repeat(200)}`,
  });
  expect(reason).toMatch(/^spawn ENOENT and more.*…$/);
  expect(reason.length).toBeLessThan(300);
});
