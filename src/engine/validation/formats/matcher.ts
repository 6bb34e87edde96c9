import { createRequire } from "node:module";
import type { RE2JS } from "re2js";
import { buildId } from "../../../kernel/runtime/late-module.ts";
import { type Budget, GivenUp } from "../budget.ts";

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

/**
 * One character of a pattern, or one of several: all of them ASCII, so that nothing depends on how texts are encoded.
 */
const one = String.raw`(?:[\w ,:;@#%&!=<>~/-]|\\[dw.\-/+*?()[\]{}|^$]|\[(?:[\w ,:;@#%&+*()/!=<>~.-]|\\[dw.\-/+])+\])`;
const exactly = String.raw`(?:\{\d{1,3}\})?`;
const variably = String.raw`(?:[+*?]|\{\d{1,3},\d{0,3}\})`;
const simple = new RegExp(`^\\^(?:${one}${exactly})*(?:${one}${variably})?(?:${one}${exactly})*\\$$`);

/**
 * The pattern as JavaScript's own, where that means the same and takes no longer than RE2: a whole text of characters
 * and classes, of which one may be there any number of times. Most patterns of real tools are such, and for them the
 * first call does not wait until RE2 is loaded (30 ms). Undefined for all others.
 */
export function toSimplePattern(pattern: string): RegExp | undefined {
  if (pattern.length > longestSimple || !simple.test(pattern)) return undefined;
  try {
    return new RegExp(pattern);
  } catch {
    // A range from Z to A, for instance: RE2 has its own opinion of it.
    return undefined;
  }
}

const longestSimple = 200;

/**
 * Longer patterns and larger programs are dropped: in the worst case, matching costs the length of the text times the
 * size of the program.
 */
const patternLengthLimit = 500;
const programSizeLimit = 2_500;
/** Tables of Unicode classes make compilation slow: 40 of them take a millisecond. */
const unicodeClassLimit = 8;

/** Escapes that RE2 reads differently from JavaScript: anchors, quoting, halves of surrogate pairs. */
const readOtherwise = /\\(?:[aACEQzZ]|u[dD][89a-fA-F])/;

/** Whether it is worth asking RE2. What it does not run in JavaScript's sense is never checked. */
function mayRun(pattern: string): boolean {
  if (pattern.length > patternLengthLimit || readOtherwise.test(pattern)) return false;
  return (pattern.match(/\\[pP]/g)?.length ?? 0) <= unicodeClassLimit;
}

/**
 * At most so many instructions, roughly, does its program have: as many as characters, those that are repeated as often
 * as they may be.
 */
export function estimateProgram(pattern: string): number {
  /** Of each group that is open: its size so far. */
  const open: number[] = [];
  let size = 0;
  /** Of the character, class or group before, which is what a repetition repeats. */
  let last = 0;
  for (const [part, least, most = ""] of pattern.matchAll(parts)) {
    if (part === "(") {
      open.push(size + 1);
      size = last = 0;
    } else if (part === ")") {
      last = size + 1;
      size += open.pop() ?? 0;
      size += 1;
    } else if (least === undefined) {
      last = part.length;
      size += last;
    } else {
      const times = Math.max(1, Number(least), Number(most));
      // Each time but the first has a choice before it, where it may be left out.
      const more = (last + 1) * (times - 1);
      size += more;
      last += more;
    }
  }
  return open.reduce((sum, before) => sum + before, size);
}

/** A repetition with numbers, a group's begin or end, a class, an escape, or any other character. */
const parts = /\{(\d+)(?:,(\d*))?\}|[()]|\[(?:\\[\s\S]|[^\]\\])*\]|\\[\s\S]|[\s\S]/g;
