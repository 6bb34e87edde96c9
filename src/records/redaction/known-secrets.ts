import { formsOf, shortestForm, type SecretForm } from "./secret-forms.ts";
import type { Spans } from "../../config/words/spans.ts";

/** Finds known secrets in texts, in every form of `formsOf`. */
export interface KnownSecrets {
  readonly values: ReadonlySet<string>;
  /** Adds where they stand to `found`; takes time in proportion to the text, however many secrets there are. */
  find(text: string, found: Spans): void;
  /**
   * Tells of each whole one, in order, and of which value it is: of several that begin at one place, the longest. Cut
   * beginnings are none: an answer that depended on them would let a secret be guessed one character after the other.
   */
  findWhole(text: string, take: (value: string, start: number, end: number) => void): void;
  /** The most characters that a form has. */
  readonly longest: number;
}

interface Entry {
  readonly form: SecretForm;
  /** The secret that it is a form of. */
  readonly value: string;
  /** The longest other form that this one begins with. */
  readonly inner: Entry | undefined;
}

/** Forms that share their first characters, sorted. */
interface Bucket {
  readonly entries: readonly Entry[];
  readonly longest: number;
}

/** Where no block of three characters is known, the search goes on by so many characters. */
const farthest = shortestForm - 2;

/**
 * Searches for all forms at once, after Wu and Manber: of the first six characters of every form the blocks of three
 * are known, so that most of a text without secrets is skipped four characters at a time. `before` lends its forms,
 * because a new token must not cost as much as a thousand old ones.
 */
export function createKnownSecrets(values: ReadonlySet<string>, before?: FormsByValue): KnownSecrets & FormsByValue {
  const forms = new Map<string, readonly SecretForm[]>();
  for (const value of values)
    if (!isSchemeAndKnown(value, values)) forms.set(value, before?.forms.get(value) ?? formsOf(value));
  const buckets = toBuckets(forms);
  const steps = toSteps(buckets);
  const mask = steps.length - 1;

  /** Calls `visit` where one of the forms may begin. */
  function search(text: string, visit: (bucket: Bucket, start: number) => void): void {
    if (buckets.size === 0) return;
    let at = shortestForm - 1;
    while (at < text.length) {
      const step = steps[blockAt(text, at - 2) & mask] as number;
      if (step > 0) {
        at += step;
        continue;
      }
      const start = at - shortestForm + 1;
      const bucket = buckets.get(text.slice(start, at + 1));
      if (bucket !== undefined) visit(bucket, start);
      at += 1;
    }
  }

  return {
    values,
    forms,
    longest: [...forms.values()].flat().reduce((most, { wholeLength }) => Math.max(most, wholeLength), 0),
    find: (text, found) => search(text, (bucket, start) => findIn(bucket, { text, start, found })),
    findWhole: (text, take) =>
      search(text, ({ entries, longest }, start) => {
        const whole = wholeForm(entries, text.slice(start, start + longest + longestLineEnd));
        if (whole !== undefined) take(whole.value, ...spanOf(text, start, whole.form));
      }),
  };
}

export interface FormsByValue {
  readonly forms: ReadonlyMap<string, readonly SecretForm[]>;
}

/** Of `Bearer x` it is enough to find `x`. */
function isSchemeAndKnown(value: string, values: ReadonlySet<string>): boolean {
  const credential = value.replace(/^(?:Bearer|Basic|Token|ApiKey)\s+/i, "");
  return credential !== value && credential.length >= shortestForm && values.has(credential);
}

type FormOf = Omit<Entry, "inner">;

function toBuckets(forms: FormsByValue["forms"]): ReadonlyMap<string, Bucket> {
  const groups = new Map<string, FormOf[]>();
  for (const [value, those] of forms) {
    for (const form of those) {
      const key = form.text.slice(0, shortestForm);
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [{ form, value }]);
      else group.push({ form, value });
    }
  }
  return new Map([...groups].map(([key, group]) => [key, toBucket(group)]));
}

function toBucket(forms: FormOf[]): Bucket {
  forms.sort(({ form: one }, { form: other }) => (one.text < other.text ? -1 : one.text > other.text ? 1 : 0));
  const entries: Entry[] = [];
  for (const { form, value } of forms) {
    let inner = entries.at(-1);
    while (inner !== undefined && !form.text.startsWith(inner.form.text)) inner = inner.inner;
    entries.push({ form, value, inner });
  }
  return { entries, longest: forms.reduce((most, { form: { text } }) => Math.max(most, text.length), 0) };
}

/** How far a search may go on after a block: not at all where a form's first six characters may end with it. */
function toSteps(buckets: ReadonlyMap<string, Bucket>): Uint8Array {
  // Sixteen places for each known block, so that few unknown ones share a place with a known one.
  const size = 2 ** Math.min(20, Math.max(12, Math.ceil(Math.log2(buckets.size * farthest * 16 + 1))));
  const steps = new Uint8Array(size).fill(farthest);
  for (const key of buckets.keys()) {
    for (let from = 0; from < farthest; from += 1) {
      const place = blockAt(key, from) & (size - 1);
      steps[place] = Math.min(steps[place] as number, farthest - 1 - from);
    }
  }
  return steps;
}

/** A number for three characters; different for all that are ASCII, before it is cut to the size of the table. */
function blockAt(text: string, at: number): number {
  const all = (text.charCodeAt(at) << 14) ^ (text.charCodeAt(at + 1) << 7) ^ text.charCodeAt(at + 2);
  return Math.imul(all, 0x9e3779b1) >>> 12;
}

interface Candidate {
  readonly text: string;
  readonly start: number;
  readonly found: Spans;
}

function findIn({ entries, longest }: Bucket, { text, start, found }: Candidate): void {
  const rest = text.slice(start, start + longest + longestLineEnd);
  const whole = wholeForm(entries, rest);
  if (whole !== undefined) found.add(...spanOf(text, start, whole.form));
  // Only as far as a form goes along: a text may repeat the beginning of a long one without end.
  const end = endOfLine(rest.slice(0, likeness(entries, rest) + longestLineEnd));
  if (end !== undefined && isCut(entries, rest.slice(0, end))) found.add(start, start + end);
}

/** How many characters the text has in common with the form that is most like it. */
function likeness(entries: readonly Entry[], rest: string): number {
  const index = firstWhere(entries, ({ form }) => form.text > rest);
  // In the order, the most similar ones are its neighbours.
  return Math.max(...[index - 1, index].map((place) => commonStart(entries[place]?.form.text ?? "", rest)));
}

function commonStart(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one.charCodeAt(at) === other.charCodeAt(at)) at += 1;
  return at;
}

/** The longest form that the text begins with. */
function wholeForm(entries: readonly Entry[], rest: string): Entry | undefined {
  // All forms that the text begins with stand at or before it in the order, and all between them begin alike.
  let entry = entries[firstWhere(entries, ({ form }) => form.text > rest) - 1];
  while (entry !== undefined && !rest.startsWith(entry.form.text)) entry = entry.inner;
  return entry;
}

function spanOf(text: string, start: number, form: SecretForm): [start: number, end: number] {
  return [start - (form.sharesBefore && start > 0 ? 1 : 0), Math.min(text.length, endOf(text, start, form))];
}

/** Several forms may begin with the text: any of them that shows too much decides. */
function isCut(entries: readonly Entry[], rest: string): boolean {
  let index = firstWhere(entries, ({ form }) => form.text >= rest);
  for (let looked = 0; looked < 16; looked += 1, index += 1) {
    const form = entries[index]?.form;
    if (form === undefined || !form.text.startsWith(rest)) return false;
    if (rest.length >= form.cutLength) return true;
  }
  return false;
}

/** The first entry for which it is true, where it is true for all after it. */
function firstWhere(entries: readonly Entry[], isTrue: (entry: Entry) => boolean): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isTrue(entries[middle] as Entry)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Where a form ends of which perhaps only the beginning is known. */
function endOf(text: string, start: number, form: SecretForm): number {
  let end = start + form.text.length;
  const last = start + form.wholeLength + (form.sharesAfter ? 1 : 0);
  while (end < last && isOfEncoding(text.charCodeAt(end))) end += 1;
  return end;
}

/** Whether a character can stand in base64, base64url, hex or an encoded part of a URL. */
function isOfEncoding(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x61 && code <= 0x7a) ||
    encodingMarks.has(code)
  );
}

const encodingMarks: ReadonlySet<number> = new Set(Buffer.from("+/-_%.~"));

/**
 * Where a line ends, or where somebody has cut it: at a line break, also one that is escaped, at dots that stand for
 * the rest, and at the end of the text. A text that goes on as long as the longest form is not cut.
 */
function endOfLine(rest: string): number | undefined {
  const end = rest.slice(shortestForm).search(/[\r\n\u2026]|\\[rn]|\.{3}/);
  return end === -1 ? rest.length : end + shortestForm;
}

/** Of three dots. */
const longestLineEnd = 3;
