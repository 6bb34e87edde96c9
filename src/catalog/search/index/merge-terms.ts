import type { IndexPart } from "./index-part.ts";

import { grown } from "../language/doubled-array.ts";

/** The terms of several parts together. */
export interface NumberedTerms {
  /** Every stem of every part, by global number. */
  readonly terms: ReadonlyMap<string, number>;
  /** Of each part after the other: the global numbers of its own terms. */
  readonly globals: Uint32Array;
  /** In how many tools, and in how many parts, each term occurs, and how many postings it has. */
  readonly toolFrequency: Uint32Array;
  readonly refCount: Uint32Array;
  readonly postingCount: Uint32Array;
}

/** Parts whose terms are numbered in one step. */
const partsInStep = 20;

/** Numbers the terms of all parts together, and counts where each occurs. In steps: between them may be other work. */
export function* mergeTerms(parts: readonly IndexPart[]): Generator<undefined, NumberedTerms> {
  const terms = new Map<string, number>();
  let count = 0;
  for (const [number, part] of parts.entries()) {
    if (number % partsInStep === 0) yield;
    count += part.termCount;
  }
  const globals = new Uint32Array(count);
  let toolFrequency = new Int32Array(4_096);
  let refCount = new Int32Array(4_096);
  let postingCount = new Int32Array(4_096);
  let at = 0;
  const globalsOf = new Map<readonly string[], Int32Array>();
  for (const [number, part] of parts.entries()) {
    if (number % partsInStep === 0) yield;
    const { memory, termStart, termCount, toolFrequency: frequencies, terms: own, stems } = part;
    let globalOf = globalsOf.get(stems);
    if (globalOf === undefined) globalsOf.set(stems, (globalOf = new Int32Array(stems.length).fill(-1)));
    for (let local = 0; local < termCount; local += 1) {
      const stem = memory[own + local] as number;
      let global = globalOf[stem] as number;
      if (global < 0) {
        globalOf[stem] = global = numberOf(stems[stem] as string, terms);
        while (global >= refCount.length)
          [toolFrequency, refCount, postingCount] = [grown(toolFrequency), grown(refCount), grown(postingCount)];
      }
      globals[at] = global;
      at += 1;
      toolFrequency[global] = (toolFrequency[global] as number) + (memory[frequencies + local] as number);
      refCount[global] = (refCount[global] as number) + 1;
      postingCount[global] =
        (postingCount[global] as number) +
        (memory[termStart + local + 1] as number) -
        (memory[termStart + local] as number);
    }
  }
  const counted = (counts: Int32Array): Uint32Array => new Uint32Array(counts.subarray(0, terms.size));
  return {
    terms,
    globals,
    toolFrequency: counted(toolFrequency),
    refCount: counted(refCount),
    postingCount: counted(postingCount),
  };
}

/** Known, or the next one. */
function numberOf(term: string, terms: Map<string, number>): number {
  let number = terms.get(term);
  if (number === undefined) terms.set(term, (number = terms.size));
  return number;
}

/** Where each of so many rows begins, when they follow each other; one more entry for the end. */
export function startsOf(counts: Uint32Array): Uint32Array {
  const starts = new Uint32Array(counts.length + 1);
  for (let at = 0; at < counts.length; at += 1) starts[at + 1] = (starts[at] as number) + (counts[at] as number);
  return starts;
}
