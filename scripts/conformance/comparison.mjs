// Compares two runs of the same scenarios, check by check. Pure.

/** @typedef {import("./suite.mjs").Scenario} Scenario */

/** How many scenarios passed (no failed check), of how many, and how many checks did. @param {Scenario[]} scenarios */
export function countPassed(scenarios) {
  return {
    scenarios: scenarios.filter(hasPassed).length,
    of: scenarios.length,
    checks: scenarios.reduce((sum, { checks }) => sum + checks.filter(isSuccess).length, 0),
  };
}

/**
 * What the second run lost against the first. A check id can occur several times in a scenario, so occurrences are
 * counted; a scenario can pass without its checks having run, so checks that vanished count as lost.
 * @param {Scenario[]} before
 * @param {Scenario[]} after
 * @returns {{ scenario: string, check: string, message: string }[]}
 */
export function findLosses(before, after) {
  const afterByName = new Map(after.map((scenario) => [scenario.name, scenario]));
  return before.flatMap((scenario) => {
    const other = afterByName.get(scenario.name);
    if (other === undefined) return [{ scenario: scenario.name, check: "(all)", message: "the scenario did not run" }];
    return findLostChecks(scenario, other);
  });
}

/**
 * The same for logins, where a client that asks less often than the other has lost nothing: only scenarios count that
 * the suite says have failed. It fails those that lack a check they need.
 * @param {Scenario[]} before
 * @param {Scenario[]} after
 */
export function findFailures(before, after) {
  const passed = new Set(after.filter(hasPassed).map(({ name }) => name));
  return findLosses(before, after).filter(({ scenario }) => !passed.has(scenario));
}

function findLostChecks(before, after) {
  const ids = [...new Set([...before.checks, ...after.checks].map(({ id }) => id))];
  return ids.flatMap((id) => {
    const ofId = (scenario) => scenario.checks.filter((check) => check.id === id);
    const missing = ofId(before).filter(isSuccess).length - ofId(after).filter(isSuccess).length;
    const newFailures = ofId(after).filter(isFailure).length - ofId(before).filter(isFailure).length;
    if (missing <= 0 && newFailures <= 0) return [];
    const reason = ofId(after).find((check) => check.status !== "SUCCESS")?.message ?? "the check did not run";
    return [{ scenario: before.name, check: id, message: reason }];
  });
}

/**
 * One table row per scenario and revision.
 * @param {{ revision: string, direct: Scenario[], gateway?: Scenario[] }[]} runs
 */
export function scenarioTable(runs) {
  const rows = runs.flatMap(({ revision, direct, gateway }) =>
    direct.map((scenario) => {
      const other = gateway?.find(({ name }) => name === scenario.name);
      return [revision, scenario.name, verdict(scenario), gateway === undefined ? "-" : verdict(other)];
    }),
  );
  return table(["revision", "scenario", "direct", "gateway"], rows);
}

/**
 * One table row per scenario, one column per revision: how it went through the gateway.
 * @param {{ revision: string, direct: Scenario[], gateway?: Scenario[] }[]} runs
 */
export function revisionTable(runs) {
  const shown = runs.map(({ revision, direct, gateway }) => ({ revision, scenarios: gateway ?? direct }));
  const names = [...new Set(shown.flatMap(({ scenarios }) => scenarios.map(({ name }) => name)))];
  const cell = (scenario) => (scenario === undefined ? "" : verdict(scenario));
  const rows = names.map((name) => [
    name,
    ...shown.map(({ scenarios }) => cell(scenarios.find((scenario) => scenario.name === name))),
  ]);
  return table(["scenario (checks)", ...shown.map(({ revision }) => revision)], rows);
}

/**
 * One table row per revision.
 * @param {{ revision: string, direct: Scenario[], gateway?: Scenario[] }[]} runs
 * @param {typeof findLosses} [find] what counts as lost
 */
export function summaryTable(runs, find = findLosses) {
  const rows = runs.map(({ revision, direct, gateway }) => [
    revision,
    showCount(countPassed(direct)),
    gateway === undefined ? "-" : showCount(countPassed(gateway)),
    gateway === undefined ? "-" : String(find(direct, gateway).length),
  ]);
  return table(["revision", "direct: scenarios (checks)", "gateway: scenarios (checks)", "lost"], rows);
}

/** @param {{ revision: string, scenario: string, check: string, message: string }[]} losses */
export function lossTable(losses) {
  const rows = losses.map(({ revision, scenario, check, message }) => [revision, scenario, check, oneLine(message)]);
  return table(["revision", "scenario", "lost check", "what the suite says"], rows);
}

const isSuccess = ({ status }) => status === "SUCCESS";
const isFailure = ({ status }) => status === "FAILURE";
const hasPassed = ({ checks }) => !checks.some(isFailure);
const showCount = ({ scenarios, of, checks }) => `${scenarios}/${of} (${checks})`;

function verdict(scenario) {
  if (scenario === undefined) return "did not run";
  return `${hasPassed(scenario) ? "passed" : "failed"} (${scenario.checks.filter(isSuccess).length})`;
}

const oneLine = (text) => text.replaceAll(/\s+/g, " ").replaceAll("|", "\\|").slice(0, 200);

function table(head, rows) {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}
