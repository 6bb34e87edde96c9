import type { IndexPart } from "./index-part.ts";

/** The terms of several parts, and where they occur. */
export interface MergedTerms {
  /** Every stem of every part, by global number. */
  readonly terms: ReadonlyMap<string, number>;
  /** Where global term t occurs: parts and their own numbers from `refStart[t]` to `refStart[t + 1]`, by part. */
  readonly refStart: Uint32Array;
  readonly refPart: Uint32Array;
  readonly refTerm: Uint32Array;
}

interface NumberedTerms extends MergedTerms {
  /** In how many tools each term occurs. */
  readonly toolFrequency: Uint32Array;
  /** Of each part: the place of each of its own terms. */
  readonly places: readonly Uint32Array[];
}

/** Parts whose terms are numbered in one step. */
const partsInStep = 20;

/** Numbers the terms of all parts together, and notes where each occurs. In steps: between them may be other work. */
export function* mergeTerms(parts: readonly IndexPart[]): Generator<undefined, NumberedTerms> {
  const terms = new Map<string, number>();
  const numbers: Uint32Array[] = [];
  for (const part of parts) {
    numbers.push(globalNumbers(part, terms));
    if (numbers.length % partsInStep === 0) yield;
  }
  const refStart = yield* countRefs(numbers, terms.size);
  const next = refStart.slice();
  const refPart = new Uint32Array(refStart[terms.size] as number);
  const refTerm = new Uint32Array(refPart.length);
  const toolFrequency = new Uint32Array(terms.size);
  for (const [number, globals] of numbers.entries()) {
    if (number % partsInStep === 0) yield;
    const { toolFrequency: frequencies } = parts[number] as IndexPart;
    for (let local = 0; local < globals.length; local += 1) {
      const global = globals[local] as number;
      const at = next[global] as number;
      next[global] = at + 1;
      refPart[at] = number;
      refTerm[at] = local;
      // From here on the number of the term is not needed any more, but where it stands is.
      globals[local] = at;
      toolFrequency[global] = (toolFrequency[global] as number) + (frequencies[local] as number);
    }
  }
  return { terms, refStart, refPart, refTerm, toolFrequency, places: numbers };
}

function* countRefs(numbers: readonly Uint32Array[], termCount: number): Generator<undefined, Uint32Array> {
  const refStart = new Uint32Array(termCount + 1);
  for (const [number, globals] of numbers.entries()) {
    if (number % partsInStep === 0) yield;
    for (const global of globals) refStart[global + 1] = (refStart[global + 1] as number) + 1;
  }
  for (let term = 0; term < termCount; term += 1)
    refStart[term + 1] = (refStart[term + 1] as number) + (refStart[term] as number);
  return refStart;
}

function globalNumbers(part: IndexPart, terms: Map<string, number>): Uint32Array {
  const globals = new Uint32Array(part.terms.length);
  for (const [local, term] of part.terms.entries()) {
    let global = terms.get(term);
    if (global === undefined) {
      global = terms.size;
      terms.set(term, global);
    }
    globals[local] = global;
  }
  return globals;
}
