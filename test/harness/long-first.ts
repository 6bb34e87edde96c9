import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that wait for a long time, or work for it: begun last, they would run alone at the end. */
const longest = [
  "test/web/pages",
  "test/cluster/nemesis",
  "test/cluster/takeover",
  "test/cluster/operating",
  "test/golden/golden",
  "test/people/installs",
  "test/instances/remote",
  "test/instances/lost-sessions",
  "test/cli/manage/servers",
  "test/people/vault-faults",
  "test/clients/connected-clients",
  "test/safety/approvals",
  "test/cli/connect",
  "test/web/people",
  "test/web/first-glance",
  "test/records/every-event",
  "test/cli/trust",
  "test/safety/read-only-calls",
  "test/safety/sandbox-kill",
  "src/front/mcp/official-clients",
  "test/instances/stateful",
  "test/records/traces",
  "scripts/servers/servers",
  "test/people/teams",
  "test/runners/npx-folder",
  "test/people/gateway-upkeep",
  "test/people/backup",
  "test/people/several-gateways",
  "test/people/command-rows",
  "test/records/store-faults-served",
  "test/people/isolation",
  "test/people/terminal-login",
  "test/faults/names/matrix",
  "test/faults/servers/deaths",
  "test/instances/roots",
  "test/instances/company-network",
  "test/instances/reload",
  "test/web/live",
  "test/cli/live-view",
  "test/cli/control",
  "test/instances/nothing-survives",
  "test/processes/reinstall",
  "test/store/killed",
];

/**
 * The longest files first, then the others as vitest sorts them, and those that share a process last: they are short,
 * and fill what is left of the time.
 */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const placeOf = ({ moduleId, project }: TestSpecification): number => {
      const place = longest.findIndex((name) => moduleId.includes(`/${name}.test.`));
      if (place !== -1) return place;
      return project.config.isolate ? longest.length : longest.length + 1;
    };
    return sorted.toSorted((one, other) => placeOf(one) - placeOf(other));
  }
}
