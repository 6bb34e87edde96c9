import { toWords } from "./words.ts";

/** What a tool does to what it is about. */
export type Intent = "read" | "create" | "update" | "delete";

const verbs: Readonly<Record<Intent, string>> = {
  read: "get list show read fetch retrieve search find view describe lookup query check count browse see display tell what which who how",
  create: "create add new make insert register generate open build write post set_up provision",
  update: "update edit modify change rename set patch put move mark assign alter replace toggle enable disable merge",
  delete: "delete remove drop destroy erase purge clear uninstall archive rid cancel",
};

/** Knows what verbs ask for. */
export interface IntentReader {
  /** Everything that the words ask for; empty when no verb is known. */
  ofWords(words: readonly string[]): ReadonlySet<Intent>;
  /** What the first verb of a tool's name does. */
  ofName(name: string): Intent | undefined;
}

export function createIntentReader(stem: (word: string) => string): IntentReader {
  const table = new Map<string, Intent>();
  for (const intent of ["read", "create", "update", "delete"] as const)
    for (const verb of verbs[intent].split(" ")) table.set(stem(verb), intent);
  const intentOf = (word: string): Intent | undefined => table.get(stem(word));
  return {
    ofWords: (words) => new Set(words.map(intentOf).filter((intent) => intent !== undefined)),
    ofName: (name) =>
      toWords(name)
        .map(intentOf)
        .find((intent) => intent !== undefined),
  };
}
