import { basename } from "node:path";
import { GatewayError, toGatewayError } from "../../kernel/failures/gateway-error.ts";

/** A file with more problems than this is in another format, and fifty lines help no one. */
const mostTold = 20;

/** All problems of a configuration. Each begins with `file:line:column`, and none contains a value. */
export class InvalidConfig extends GatewayError {
  readonly problems: readonly string[];

  constructor(problems: readonly string[], cause?: unknown) {
    super("CONFIG_INVALID", tellAll(problems), { cause });
    this.problems = problems;
  }
}

function tellAll(problems: readonly string[]): string {
  if (problems.length === 1) return problems[0] ?? "";
  const more = problems.length > mostTold ? [`and ${problems.length - mostTold} more`] : [];
  return [`${problems.length} problems:`, ...problems.slice(0, mostTold), ...more].join("\n    ");
}

/** Collects the problems of one part after the other, so that all are reported together. */
export interface Problems {
  readonly all: readonly string[];
  add(...problems: readonly string[]): void;
  /**
   * Returns the function's result. When it throws CONFIG_INVALID, keeps the problems and returns undefined. Other
   * errors pass through.
   */
  attempt<Value>(run: () => Value): Value | undefined;
  /** Throws InvalidConfig when there are any problems. */
  refuseAny(): void;
}

/** Begins without problems. */
export function createProblems(): Problems {
  const all: string[] = [];
  return {
    all,
    add(...problems) {
      for (const problem of problems) all.push(problem);
    },
    attempt(run) {
      try {
        return run();
      } catch (error) {
        for (const problem of problemsOf(error)) all.push(problem);
        return undefined;
      }
    },
    refuseAny() {
      if (all.length > 0) throw new InvalidConfig(all);
    },
  };
}

/** Rethrows anything but CONFIG_INVALID. */
export function problemsOf(error: unknown): readonly string[] {
  if (error instanceof InvalidConfig) return error.problems;
  if (toGatewayError(error).code !== "CONFIG_INVALID") throw error;
  return [toGatewayError(error).message];
}

/** The problems as one reason that everybody who sees the server may read: the file's name without its folders. */
export function toReason(problems: readonly string[], fileName: string): string {
  const short = problems.map((problem) =>
    problem.startsWith(fileName) ? basename(fileName) + problem.slice(fileName.length) : problem,
  );
  const more = short.length > mostTold ? `; and ${short.length - mostTold} more` : "";
  return short.slice(0, mostTold).join("; ") + more;
}
