import { createHash } from "node:crypto";

/** Who claims each name. Most names have one claimant, for whom no list is made. */
export interface Claims<T> {
  /** The first claimant of each name. */
  readonly first: Map<string, T>;
  /** All of them, where there is more than one. */
  readonly several: Map<string, T[]>;
}

export function noClaims<T>(): Claims<T> {
  return { first: new Map(), several: new Map() };
}

export function claim<T>({ first, several }: Claims<T>, name: string, item: T): void {
  const before = first.get(name);
  if (before === undefined) {
    first.set(name, item);
    return;
  }
  const list = several.get(name);
  if (list === undefined) several.set(name, [before, item]);
  else list.push(item);
}

export function claimantsOf<T>({ first, several }: Claims<T>, name: string): readonly T[] {
  const list = several.get(name);
  if (list !== undefined) return list;
  const only = first.get(name);
  return only === undefined ? [] : [only];
}

/** A name of its own for every item. */
export interface Assigned<T> {
  /** The name that lists show for each item. */
  readonly names: ReadonlyMap<T, string>;
  /** The reverse. */
  readonly listed: ReadonlyMap<string, T>;
  /** Of a spelling that lists show or that several items would have: whom it means. */
  owners(spelling: string): readonly T[];
}

export interface NamedItem<T> {
  readonly item: T;
  /** The name that it would have if clients accepted every name and no other item had it. */
  readonly text: string;
  readonly identity: string;
}

/** Items that a step looks at: a millisecond. */
const itemsInStep = 1_000;

/**
 * Gives every item the plain name when no other item claims it, otherwise one with a hash. In steps: a hundred thousand
 * take a tenth of a second.
 */
export function* assignNames<T>(
  count: number,
  itemAt: (at: number) => NamedItem<T>,
): Generator<undefined, Assigned<T>> {
  const plain: string[] = [];
  const claims = noClaims<T>();
  for (let at = 0; at < count; at += 1) {
    if (at % itemsInStep === 0) yield;
    const { item, text, identity } = itemAt(at);
    const name = toClientName(text, identity);
    plain.push(name);
    claim(claims, name, item);
  }
  const { first: listed, several } = claims;
  for (const name of several.keys()) listed.delete(name);
  const names = new Map<T, string>();
  for (let at = 0; at < count; at += 1) {
    if (at % itemsInStep === 0) yield;
    const named = itemAt(at);
    let name = plain[at] as string;
    if (several.has(name)) {
      name = freeName(named, (taken) => listed.has(taken) || several.has(taken));
      listed.set(name, named.item);
    }
    names.set(named.item, name);
  }
  return { names, listed, owners: (spelling) => claimantsOf(claims, spelling) };
}

function freeName({ text, identity }: NamedItem<unknown>, isTaken: (name: string) => boolean): string {
  let digits = 8;
  let name = withHash(text, identity, digits);
  while (isTaken(name) && digits < 32) {
    digits *= 2;
    name = withHash(text, identity, digits);
  }
  return name;
}

/** Names that every client accepts (docs/design.md, "Names"). */
const allowed = /^[A-Za-z0-9_-]{1,64}$/;
const longest = 64;

/**
 * A name that clients accept: the text itself when it qualifies, otherwise with other characters replaced, cut, and
 * with a short hash.
 */
export function toClientName(text: string, identity: string): string {
  return allowed.test(text) ? text : withHash(text, identity, 8);
}

/**
 * The same, always with a hash: for names that two tools would share. `digits` grows when even the hashed name is
 * taken.
 */
export function withHash(text: string, identity: string, digits: number): string {
  const hash = createHash("sha256").update(identity).digest("hex").slice(0, digits);
  const safe = text.replace(/[^A-Za-z0-9_-]/gu, "_").slice(0, longest - digits - 1);
  return `${safe}_${hash}`;
}
