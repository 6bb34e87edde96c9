import { openBrace, openBracket } from "./characters.ts";
import { mostMembers, tooManyMembers, Member, type Span } from "./json-scan.ts";

/** One element of the list, and those of its members that were asked for: of several with one name, the last. */
export interface ListedElement extends Span {
  readonly members: ReadonlyMap<string, Member>;
}

export interface OutlineOptions {
  /** The member of the outermost object whose elements are noted if it is a list. */
  readonly list: string;
  /** The members of each element that are noted if it is an object. All names must be ASCII. */
  readonly names: readonly string[];
  /** Elements beyond these are not noted. */
  readonly most: number;
}

/**
 * Where the parts of a large value are, noted while it is checked, so that it need not be scanned again: the members of
 * the outermost object, and the elements of one list among them.
 *
 * `checkJson` calls `name`, `begin` and `end`, which throws BODY_TOO_COMPLEX for too many members. Depth is the number
 * of objects and lists around what begins or ends.
 */
export class JsonOutline {
  readonly members: Member[] = [];
  /** Of the last member with the list's name; undefined when that is no list. */
  elements: ListedElement[] | undefined;
  readonly #bytes: Buffer;
  readonly #options: OutlineOptions;
  /** Begin and end of the names, and begin of the values, that are open at each depth. */
  readonly #keyStarts = [0, 0, 0, 0];
  readonly #keyEnds = [0, 0, 0, 0];
  readonly #starts = [0, 0, 0, 0];
  #isInList = false;
  #found = new Map<string, Member>();

  constructor(bytes: Buffer, options: OutlineOptions) {
    this.#bytes = bytes;
    this.#options = options;
  }

  /** A member's name, from quote to quote, and where its value begins. Call only for depths up to `deepestNoted`. */
  name(depth: number, keyStart: number, keyEnd: number, start: number): void {
    this.#keyStarts[depth] = keyStart;
    this.#keyEnds[depth] = keyEnd;
    if (depth !== 1 || !this.#memberAt(1, start, start).is(this.#options.list)) return;
    this.#isInList = this.#bytes[start] === openBracket;
    this.elements = this.#isInList ? [] : undefined;
  }

  begin(depth: number, at: number): void {
    this.#starts[depth] = at;
    if (depth === 2 && this.#isInList) this.#found = new Map();
  }

  end(depth: number, at: number): void {
    const start = this.#starts[depth] as number;
    if (depth === 1) {
      if (this.members.length === mostMembers) throw tooManyMembers();
      this.members.push(this.#memberAt(1, start, at));
      this.#isInList = false;
      return;
    }
    if (!this.#isInList || this.elements === undefined || this.elements.length >= this.#options.most) return;
    if (depth === 2) this.elements.push({ start, end: at, members: this.#found });
    else if (this.#bytes[this.#starts[2] as number] === openBrace) this.#noteWanted(this.#memberAt(3, start, at));
  }

  #noteWanted(member: Member): void {
    const name = this.#options.names.find((wanted) => member.is(wanted));
    if (name !== undefined) this.#found.set(name, member);
  }

  #memberAt(depth: number, start: number, end: number): Member {
    return new Member(this.#bytes, this.#keyStarts[depth] as number, this.#keyEnds[depth] as number, start, end);
  }
}

export const deepestNoted = 3;
