/** The characters [start, end) of a text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The text shown in place of a secret. */
export const redacted = "[redacted]";

/** Parts of a text that must not be seen. A class, because one is made for every text. */
export class Spans {
  #spans: Span[] | undefined;

  get isEmpty(): boolean {
    return this.#spans === undefined;
  }

  add(start: number, end: number): void {
    (this.#spans ??= []).push({ start, end });
  }

  /** In order; those that overlap are one. */
  merged(): readonly Span[] {
    const merged: { start: number; end: number }[] = [];
    for (const { start, end } of (this.#spans ?? []).toSorted((one, other) => one.start - other.start)) {
      const last = merged.at(-1);
      if (last !== undefined && start < last.end) last.end = Math.max(last.end, end);
      else merged.push({ start, end });
    }
    return merged;
  }
}
