import { toWords } from "./words.ts";

/** What a tool does to what it is about. */
export const purposes = ["read", "create", "update", "delete"] as const;
export type Purpose = (typeof purposes)[number];

const verbs: Readonly<Record<Purpose, string>> = {
  read: "get list show read fetch retrieve search find view describe lookup query check count browse see display tell what which who how when where",
  create: "create add new make insert register generate open build write post save store set_up provision",
  update: "update edit modify change rename set patch put move mark assign alter replace toggle enable disable merge",
  delete: "delete remove drop destroy erase purge clear uninstall archive rid cancel",
};

/** A question asks to read, whatever verbs follow: "when was this file changed" changes nothing. */
const question =
  /^(what|which|who|whose|when|where|why|is|are|was|were|does|did|has|how (many|much|far|long|big|old|often))\b/;

/** Names whose purpose is remembered: as many as large catalogs have, at some 100 bytes each. */
const nameLimit = 20_000;

/** Knows what verbs ask for. Remembers names: each search looks at some hundred. */
export interface PurposeReader {
  /** Everything that the words of a query ask for; empty when no verb is known. */
  ofQuery(words: readonly string[]): ReadonlySet<Purpose>;
  /** What the first verb of a tool's name does. */
  ofName(name: string): Purpose | undefined;
}

export function createPurposeReader(stem: (word: string) => string): PurposeReader {
  const table = new Map<string, Purpose>();
  for (const purpose of purposes) for (const verb of verbs[purpose].split(" ")) table.set(stem(verb), purpose);
  const intentOf = (word: string): Purpose | undefined => table.get(stem(word));
  const ofNames = new Map<string, Purpose | undefined>();
  const readName = (name: string): Purpose | undefined =>
    toWords(name)
      .map(intentOf)
      .find((purpose) => purpose !== undefined);
  return {
    ofQuery: (words) =>
      question.test(words.slice(0, 2).join(" "))
        ? new Set(["read"])
        : new Set(words.map(intentOf).filter((purpose) => purpose !== undefined)),
    ofName(name) {
      const known = ofNames.get(name);
      if (known !== undefined || ofNames.has(name)) return known;
      if (ofNames.size >= nameLimit) ofNames.clear();
      const purpose = readName(name);
      ofNames.set(name, purpose);
      return purpose;
    },
  };
}
