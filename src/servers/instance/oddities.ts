import { countText } from "../../kernel/text/number-text.ts";
import type { Log } from "../../kernel/runtime/log.ts";

/**
 * What a server does that the protocol does not allow, or that its author should know, and that was mended here: for
 * one of its kind and for several. A new kind is a new row.
 */
const oddityKinds = Object.freeze({
  "tools.odd": ["tool has an odd definition", "tools have odd definitions"],
  "resources.odd": ["resource has an odd definition", "resources have odd definitions"],
  "templates.odd": ["resource template has an odd definition", "resource templates have odd definitions"],
  "prompts.odd": ["prompt has an odd definition", "prompts have odd definitions"],
  "definitions.held": ["tool is held for review", "tools are held for review"],
  "items.skipped": ["listed item is left out", "listed items are left out"],
  "results.odd": ["result was odd", "results were odd"],
  "sessions.lost": ["new session was not opened", "new sessions were not opened"],
} as const satisfies Record<string, readonly [one: string, several: string]>);

export type OddityKind = keyof typeof oddityKinds;

/** How often one kind was seen, and its first examples, such as `create_x (annotations.title is null)`. */
export interface Oddity {
  readonly kind: OddityKind;
  readonly count: number;
  readonly examples: readonly string[];
}

/**
 * The oddities of one instance. It holds at most one entry per kind, with {@link mostExamples} examples of
 * {@link longestExample} characters. Examples name places and kinds of values, never the values; readers redact them
 * like everything that a server wrote.
 */
export interface Oddities {
  /** Counts one. The first of its kind is logged at level warn, later ones at level debug. */
  note(kind: OddityKind, example: string): void;
  /**
   * Sets how many there are now, for checks of a whole, such as a list. None removes the kind. Logged at level warn
   * when it differs, unless each was logged already.
   */
  replace(kind: OddityKind, examples: readonly string[], areLogged?: boolean): void;
  all(): readonly Oddity[];
  /** One sentence per kind: `2 tools have odd definitions: create_x (annotations.title is null), list_y (…)`. */
  sentences(): readonly string[];
}

const mostExamples = 5;
const longestExample = 200;

/** `slug` is asked when something is logged. */
export function createOddities(slug: () => string, { warn, debug }: Pick<Log, "warn" | "debug">): Oddities {
  /** Made with the first oddity: most instances have none. */
  let known: Map<OddityKind, Oddity> | undefined;

  function put(oddity: Oddity): void {
    (known ??= new Map()).set(oddity.kind, oddity);
  }

  function log(oddity: Oddity, isNews: boolean): void {
    const fields = { component: "instance", server: slug(), operation: "oddity" };
    if (isNews) warn(fields, `${slug()}: ${toSentence(oddity)}`);
    else debug(fields, `${slug()}: ${oddity.kind} again: ${oddity.examples.at(-1) ?? ""}`);
  }

  return {
    note(kind, example) {
      const before = known?.get(kind);
      const { count = 0, examples = [] } = before ?? {};
      const oddity = { kind, count: count + 1, examples: withExample(examples, example) };
      put(oddity);
      log(oddity, before === undefined);
    },
    replace(kind, all, areLogged = false) {
      const before = known?.get(kind);
      if (all.length === 0) {
        known?.delete(kind);
        return;
      }
      const oddity = { kind, count: all.length, examples: all.reduce<readonly string[]>(withExample, []) };
      if (before !== undefined && toSentence(before) === toSentence(oddity)) return;
      put(oddity);
      if (!areLogged) log(oddity, true);
    },
    all: () => [...(known?.values() ?? [])],
    sentences: () => [...(known?.values() ?? [])].map(toSentence),
  };
}

function withExample(examples: readonly string[], example: string): readonly string[] {
  const short = example.length > longestExample ? `${example.slice(0, longestExample - 1)}…` : example;
  return examples.length >= mostExamples || examples.includes(short) ? examples : [...examples, short];
}

function toSentence({ kind, count, examples }: Oddity): string {
  const [one, several] = oddityKinds[kind];
  const more = count > examples.length && examples.length >= mostExamples ? ", …" : "";
  return `${countText(count)} ${count === 1 ? one : several}: ${examples.join(", ")}${more}`;
}
