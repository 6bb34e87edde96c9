import { field as fields, fieldCount } from "../language/fields.ts";
import { createStemList, pushStem, type StemList, type StemTable, grown } from "../language/stem-table.ts";

/** Highest count of one word in one field; the ranking saturates far below. */
const countLimit = 15;

/**
 * Which tools of one instance hold which stems: numbers in a piece of memory, and where in it each list begins. There
 * are ten thousand parts in a large catalog, and an array for each list of each part would be half of the collector's
 * work.
 */
export interface Postings {
  /** Stems of this part and of others: so many parts have the same words. */
  readonly stems: readonly string[];
  /** Also of other parts: only what lies between this part's places is its own. */
  readonly memory: Uint32Array;
  readonly termCount: number;
  /** Term t is in `stems` at `memory[terms + t]`. */
  readonly terms: number;
  /** Postings of term t: from place `memory[termStart + t]` to `memory[termStart + t + 1]`, by tool; see `packed`. */
  readonly termStart: number;
  /** In how many tools term t occurs outside phrases: claiming a word in phrases does not make it common. */
  readonly toolFrequency: number;
  /** Words per tool and field, `lengths + tool * fieldCount + field`. */
  readonly lengths: number;
  /**
   * Stems of name and description in order, for phrases: term numbers from place `memory[sequenceStart + 2 * tool]`
   * (name), `[... + 1]` (description). Those of the server's name and title follow the last one's, up to `end`.
   */
  readonly sequenceStart: number;
  readonly end: number;
}

/** A posting: the tool, in front of eight bits for the field and how often it has the term. */
export const packed = Object.freeze({
  of: (tool: number, field: number, count: number): number => tool * 256 + field * 16 + count,
  tool: (posting: number): number => posting >>> 8,
  field: (posting: number): number => (posting >>> 4) & 15,
  count: (posting: number): number => posting & 15,
});

export interface PostingsBuilder {
  /** Numbers of stems, which `add` and `local` take; valid until the next `begin`. */
  readonly stems: StemTable;
  /** An empty list that is valid until the next `begin`, or until its use is asked for again. */
  list(use: string): StemList;
  /** Forgets everything, for another part. */
  begin(toolCount: number): void;
  /** The stems of a tool's name and description in order. After the tool's fields, or the server's last of all. */
  follow(stems: StemList): void;
  /** All stems of one field of one tool. Tools in ascending order, each field of a tool once, phrases last. */
  add(tool: number, field: number, stems: StemList): void;
  finish(): Postings;
}

/** Makes one part after the other, in the same memory. */
export function createPostings(stems: StemTable): PostingsBuilder {
  let toolCount = 0;
  let lengths = new Int32Array(0);
  /** Terms in order, and where each name, each description and the server begins. */
  const sequence = createStemList();
  const sequenceStart = createStemList();
  /** By stem: its number in this part and `before`, if it was met in this part; less than `before` if not. */
  let localOf = new Int32Array(1_024).fill(-1);
  /** How many terms all parts before had. */
  let before = 0;
  /** By the part's own number. */
  let termCount = 0;
  let terms = new Int32Array(1_024);
  const rows = createRows();
  const lists = new Map<string, StemList>();
  const arena = createArena();

  function begun(stem: number): number {
    const term = termCount;
    termCount += 1;
    if (termCount === terms.length) terms = grown(terms);
    terms[term] = stem;
    rows.beginTerm(term);
    localOf[stem] = before + term;
    return term;
  }

  function local(stem: number): number {
    while (stem >= localOf.length) localOf = grown(localOf).fill(-1, localOf.length);
    const known = (localOf[stem] as number) - before;
    return known >= 0 ? known : begun(stem);
  }

  return {
    stems,
    list(use) {
      const list = lists.get(use) ?? createStemList();
      lists.set(use, list);
      list.length = 0;
      return list;
    },
    begin(count) {
      before += termCount;
      if (stems.trim() || before > mostTerms) {
        localOf.fill(-1);
        before = 0;
      }
      toolCount = count;
      if (lengths.length < count * fieldCount) lengths = new Int32Array(count * fieldCount);
      else lengths.fill(0, 0, count * fieldCount);
      sequence.length = 0;
      sequenceStart.length = 0;
      termCount = 0;
      rows.clear();
    },
    follow({ numbers, length }) {
      pushStem(sequenceStart, sequence.length);
      for (let at = 0; at < length; at += 1) pushStem(sequence, local(numbers[at] as number));
    },
    add(tool, field, { numbers, length }) {
      lengths[tool * fieldCount + field] = Math.min(length, 0xffff);
      const first = packed.of(tool, field, 1);
      for (let at = 0; at < length; at += 1) rows.add(local(numbers[at] as number), first);
    },
    finish() {
      const lists = { terms: terms.subarray(0, termCount), lengths: lengths.subarray(0, toolCount * fieldCount) };
      const part = laidOut(arena, { ...lists, rows: rows.size, toolCount, sequence, sequenceStart });
      rows.sortInto(part);
      return { ...part, stems: stems.stems };
    },
  };
}

/** Terms of parts after which counting restarts: no part has as many as are left up to 32 bits. */
const mostTerms = 2 ** 30;

/** One row per posting in order of arrival; sorted by term at the end. */
interface Rows {
  readonly size: number;
  clear(): void;
  /** A term that has no row yet. */
  beginTerm(term: number): void;
  /** One mention more: `first` is the posting of the first one in this tool and field. */
  add(term: number, first: number): void;
  sortInto(part: Layout): void;
}

function createRows(): Rows {
  /** By term: its last row, and room for where it writes on when rows are sorted: one place more than there are. */
  let lastRow = new Int32Array(1_024);
  let next = new Int32Array(1_024);
  let rowTerm = new Int32Array(4_096);
  let rowPosting = new Int32Array(4_096);
  let size = 0;

  return {
    get size() {
      return size;
    },
    clear: () => void (size = 0),
    beginTerm(term) {
      if (term + 1 >= lastRow.length) [lastRow, next] = [grown(lastRow), grown(next)];
      lastRow[term] = -1;
    },
    add(term, first) {
      const last = lastRow[term] as number;
      if (last >= 0) {
        const posting = rowPosting[last] as number;
        if (posting >>> 4 === first >>> 4) {
          if (packed.count(posting) < countLimit) rowPosting[last] = posting + 1;
          return;
        }
      }
      if (size === rowTerm.length) [rowTerm, rowPosting] = [grown(rowTerm), grown(rowPosting)];
      rowTerm[size] = term;
      rowPosting[size] = first;
      lastRow[term] = size;
      size += 1;
    },
    sortInto: (part) => sortRows({ rowTerm, rowPosting, size, next }, part),
  };
}

interface RowArrays {
  readonly rowTerm: Int32Array;
  readonly rowPosting: Int32Array;
  readonly size: number;
  readonly next: Int32Array;
}

function sortRows({ rowTerm, rowPosting, size, next }: RowArrays, part: Layout): void {
  const { memory, termStart, termCount, toolFrequency, postings } = part;
  next.fill(0, 0, termCount + 1);
  for (let row = 0; row < size; row += 1) {
    const after = (rowTerm[row] as number) + 1;
    next[after] = (next[after] as number) + 1;
  }
  let at = postings;
  for (let term = 0; term <= termCount; term += 1) {
    at += next[term] as number;
    next[term] = at;
    memory[termStart + term] = at;
  }
  for (let row = 0; row < size; row += 1) {
    const term = rowTerm[row] as number;
    const posting = rowPosting[row] as number;
    const to = next[term] as number;
    next[term] = to + 1;
    memory[to] = posting;
    const isFirst = to === memory[termStart + term] || (memory[to - 1] as number) >>> 8 !== posting >>> 8;
    if (isFirst && packed.field(posting) !== fields.phrases)
      memory[toolFrequency + term] = (memory[toolFrequency + term] as number) + 1;
  }
}

interface Layout extends Omit<Postings, "stems"> {
  readonly postings: number;
}

interface Lists {
  readonly terms: Int32Array;
  readonly lengths: Int32Array;
  readonly rows: number;
  readonly toolCount: number;
  readonly sequence: StemList;
  readonly sequenceStart: StemList;
}

/** Puts everything but the postings into one row of memory, and leaves room for those. */
function laidOut(arena: Arena, { terms, lengths, rows, toolCount, sequence, sequenceStart }: Lists): Layout {
  const termCount = terms.length;
  const startCount = 2 * toolCount + 1;
  const size = 3 * termCount + 1 + lengths.length + rows + startCount + sequence.length;
  const { memory, start } = arena.take(size);
  const toolFrequency = start + termCount + 1;
  const part = {
    memory,
    termCount,
    termStart: start,
    toolFrequency,
    terms: toolFrequency + termCount,
    lengths: toolFrequency + 2 * termCount,
    postings: toolFrequency + 2 * termCount + lengths.length,
    sequenceStart: toolFrequency + 2 * termCount + lengths.length + rows,
    end: start + size,
  };
  memory.set(terms, part.terms);
  memory.set(lengths, part.lengths);
  const first = part.sequenceStart + startCount;
  // Nothing follows where a part has neither tools nor a server that says anything.
  for (let at = 0; at < startCount; at += 1)
    memory[part.sequenceStart + at] =
      first + (at < sequenceStart.length ? (sequenceStart.numbers[at] as number) : sequence.length);
  memory.set(sequence.numbers.subarray(0, sequence.length), first);
  return part;
}

/** Memory for one part after the other, zeroed. */
interface Arena {
  take(size: number): { readonly memory: Uint32Array; readonly start: number };
}

/**
 * Numbers in a piece of memory: the first for some tools, the others for two hundred. A piece is kept while any part of
 * it is in use; parts that were made together are mostly used together.
 */
const pieceSizes = Object.freeze({ first: 4_096, most: 65_536 });

function createArena(): Arena {
  let memory = new Uint32Array(0);
  let used = 0;
  return {
    take(size) {
      if (used + size > memory.length) {
        const usual = Math.min(pieceSizes.most, Math.max(pieceSizes.first, 2 * memory.length));
        // A large part has a piece of its own, and the one that is begun is filled by others.
        if (size > usual / 4) return { memory: new Uint32Array(size), start: 0 };
        memory = new Uint32Array(usual);
        used = 0;
      }
      used += size;
      return { memory, start: used - size };
    },
  };
}
