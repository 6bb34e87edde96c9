import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that wait for a long time, or work for it: begun last, they would run alone at the end. */
const longest = [
  "instances/nothing-survives",
  "web/pages",
  "oauth/audited-logins",
  "records/every-event",
  "instances/remote",
  "instances/reload",
  "records/traces",
  "cli/service",
  "processes/reinstall",
  "web/people",
];

/**
 * The longest files first, then the others as vitest sorts them, and those that share a process last: they are short,
 * and fill what is left of the time.
 */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const placeOf = ({ moduleId, project }: TestSpecification): number => {
      if (!project.config.isolate) return longest.length + 1;
      const place = longest.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
      return place === -1 ? longest.length : place;
    };
    return sorted.toSorted((one, other) => placeOf(one) - placeOf(other));
  }
}
