import { expect, test } from "vitest";
import { countPassed, findFailures, findLosses, lossTable, revisionTable, summaryTable } from "./comparison.mjs";

const check = (id, status = "SUCCESS", message = "") => ({ id, status, message });
const direct = [
  { name: "ping", checks: [check("ping")] },
  {
    name: "polling",
    checks: [check("priming"), check("retry"), check("resume"), check("sent", "INFO")],
  },
  { name: "headers", checks: [check("status"), check("status")] },
];

test("the same results lose nothing", () => {
  expect(findLosses(direct, direct)).toEqual([]);
  expect(countPassed(direct)).toEqual({ scenarios: 3, of: 3, checks: 6 });
});

test("a scenario that passes without its checks has lost them", () => {
  const gateway = [direct[0], { name: "polling", checks: [check("content-type", "INFO")] }, direct[2]];
  expect(findLosses(direct, gateway).map((loss) => loss.check)).toEqual(["priming", "retry", "resume"]);
});

test("one failure among checks of the same id is a loss", () => {
  const failed = check("status", "FAILURE", "expected 400,\n got 200 | ok");
  const gateway = [direct[0], direct[1], { name: "headers", checks: [check("status"), failed] }];
  const losses = findLosses(direct, gateway);
  expect(losses).toEqual([{ scenario: "headers", check: "status", message: failed.message }]);
  expect(lossTable([{ revision: "2026-07-28", ...losses[0] }])).toContain("expected 400, got 200 \\| ok");
  expect(summaryTable([{ revision: "2026-07-28", direct, gateway }])).toContain("| 3/3 (6) | 2/3 (5) | 1 |");
});

test("a failure that the server did not have, and a scenario that did not run, are losses", () => {
  const extra = {
    name: "ping",
    checks: [check("ping"), check("wire", "FAILURE", "not in the schema")],
  };
  expect(findLosses(direct, [extra, direct[1]]).map((loss) => loss.check)).toEqual(["wire", "(all)"]);
});

test("of logins, only what the suite fails counts: who asks less often has lost nothing", () => {
  const fewer = { name: "polling", checks: [check("priming")] };
  const failed = { name: "headers", checks: [check("status"), check("status", "FAILURE", "another one")] };
  const gateway = [direct[0], fewer, failed];
  expect(findFailures(direct, gateway)).toEqual([{ scenario: "headers", check: "status", message: "another one" }]);
  expect(findFailures(direct, gateway.slice(0, 2)).map((loss) => loss.check)).toEqual(["(all)"]);
  const runs = [
    { revision: "2025-11-25", direct, gateway },
    { revision: "2026-07-28", direct: direct.slice(0, 1) },
  ];
  expect(summaryTable(runs, findFailures)).toContain("| 3/3 (6) | 2/3 (3) | 1 |");
  expect(revisionTable(runs)).toContain("| ping | passed (1) | passed (1) |");
  expect(revisionTable(runs)).toContain("| headers | failed (1) |  |");
});
