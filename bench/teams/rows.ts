/** One figure of the table, and what it should be. */
export interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  /** Undefined where nothing was promised. */
  readonly goal: { readonly most: number } | { readonly least: number } | undefined;
  /** What stands beside the figure. */
  readonly note?: string | undefined;
}

/** Collects figures, and says each as soon as it is there. */
export interface Figures {
  add(what: string, value: number, unit: string, rest?: Partial<Pick<Figure, "goal" | "note">>): void;
  readonly all: readonly Figure[];
}

export function createFigures(): Figures {
  const all: Figure[] = [];
  return {
    all,
    add(what, value, unit, { goal, note } = {}) {
      all.push({ what, value, unit, goal, note });
      process.stderr.write(`${what}: ${shown(value)} ${unit}${note === undefined ? "" : ` (${note})`}\n`);
    },
  };
}

/** In Markdown. */
export function tableOf(figures: readonly Figure[]): string {
  const lines = figures.map(({ what, value, unit, goal, note }) => {
    const figure = `${shown(value)} ${unit}`.trim();
    const beside = note === undefined ? "" : ` (${note})`;
    return `| ${what} | ${figure}${beside} | ${goalText(goal, unit)} |`;
  });
  return ["| what | figure | goal |", "| --- | ---: | ---: |", ...lines].join("\n");
}

export function isMet({ value, goal }: Figure): boolean {
  if (goal === undefined) return true;
  return "most" in goal ? value <= goal.most : value >= goal.least;
}

function goalText(goal: Figure["goal"], unit: string): string {
  if (goal === undefined) return "";
  return "most" in goal ? `at most ${goal.most} ${unit}`.trim() : `at least ${goal.least} ${unit}`.trim();
}

function shown(value: number): string {
  if (Number.isInteger(value) || Math.abs(value) >= 100) return String(Math.round(value));
  return Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(3).replace(/0$/, "");
}

export function percentile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((one, two) => one - two);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
