import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that wait for a long time, or work for it: begun last, they would run alone at the end. */
const longest = [
  "test/instances/nothing-survives",
  "test/web/pages",
  "test/instances/remote",
  "test/records/traces",
  "test/people/installs",
  "test/cli/manage/servers",
  "test/clients/connected-clients",
  "test/instances/reload",
  "test/instances/lost-sessions",
  "test/people/vault-faults",
  "test/records/every-event",
  "test/records/audit",
  "scripts/servers/servers",
  "test/processes/reinstall",
  "test/instances/stateful",
  "src/front/mcp/official-clients",
  "test/oauth/audited-logins",
  "test/cli/service",
  "test/web/people",
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
