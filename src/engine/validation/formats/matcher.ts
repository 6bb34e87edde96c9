import { createRequire } from "node:module";
import type { RE2JS } from "re2js";
import { buildId } from "../../../kernel/runtime/late-module.ts";
import { type Budget, GivenUp } from "../budget.ts";
import { mayRun, programSizeLimit } from "./pattern-limits.ts";
import { toSimplePattern } from "./simple-pattern.ts";

type CreateMatcher = (pattern: string) => Matcher;

interface Matcher {
  /**
   * Whether the pattern matches anywhere in `text`. Throws GivenUp when that would take too long, or cannot be
   * decided.
   */
  test(text: string): boolean;
  /** In instructions; infinite when RE2 cannot run the pattern. Throws GivenUp when RE2 is not there. */
  size(): number;
}

/** Size of the program times length of the text; 20 ms in the worst case. */
const matchStepLimit = 2_000_000;
/** The package, or what scripts/build.mjs made of it. */
const engineFile = buildId === "" ? "re2js" : "./re2js.cjs";
/** White space for JavaScript's `\s` but not for RE2's. */
const unusualSpace = /[\v\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]/;

/** Longer texts are paid for. */
const longestForSimple = 10_000;

/** Whether a text has the pattern in it. Undefined when RE2 cannot run the pattern as JavaScript would. */
export function toPatternTest(create: CreateMatcher, pattern: string): (text: string) => boolean | undefined {
  if (!mayRun(pattern)) return () => undefined;
  const matcher = create(pattern);
  const simple = toSimplePattern(pattern);
  let isUsable: boolean | undefined;
  return (text) => {
    if (simple !== undefined && text.length <= longestForSimple) return simple.test(text);
    isUsable ??= matcher.size() <= programSizeLimit;
    return isUsable ? matcher.test(text) : undefined;
  };
}

/**
 * A matcher compiles its pattern when it is first used, because a schema may contain thousands. RE2 is loaded with
 * the first one.
 */
export function createMatchers(budget: Budget): CreateMatcher {
  const require = createRequire(import.meta.url);

  function loadEngine(): typeof RE2JS {
    try {
      return (require(engineFile) as typeof import("re2js")).RE2JS;
    } catch (error) {
      // The package is just being reinstalled. Leaving the value unchecked is better than refusing it.
      throw new GivenUp("what runs patterns cannot be loaded", { cause: error });
    }
  }

  return (pattern) => {
    const usesSpace = /\\s/i.test(pattern);
    let program: RE2JS | undefined;

    function compile(): RE2JS {
      budget.look();
      const engine = loadEngine();
      return engine.compile(engine.translateRegExp(pattern));
    }

    return {
      size() {
        try {
          program ??= compile();
        } catch (error) {
          if (error instanceof GivenUp) throw error;
          return Number.POSITIVE_INFINITY;
        }
        return program.programSize();
      },
      test(text) {
        program ??= compile();
        const steps = program.programSize() * text.length;
        if (steps > matchStepLimit) throw new GivenUp("the text is too long for its pattern");
        if (usesSpace && unusualSpace.test(text)) throw new GivenUp("RE2 and JavaScript differ on this white space");
        budget.left -= steps >> 4;
        if (budget.left < 0) budget.look();
        return program.test(text);
      },
    };
  };
}
