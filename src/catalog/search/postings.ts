import { field as fields, fieldCount } from "./fields.ts";
import { createStemList, pushStem, type StemList, type StemTable } from "./stem-table.ts";
import { grown } from "./grown.ts";

/** Highest count of one word in one field; the ranking saturates far below. */
const countLimit = 15;

/** Which tools of one instance hold which stems, in typed arrays. */
export interface Postings {
  /** Stems of this part and of others, and where term t stands in them: so many parts have the same words. */
  readonly stems: readonly string[];
  readonly terms: Uint32Array;
  /** Postings of term t: from `termStart[t]` to `termStart[t + 1]`, by tool. */
  readonly termStart: Uint32Array;
  readonly postingTool: Uint16Array | Uint32Array;
  /** Field number in the high four bits, count in the low four. */
  readonly postingField: Uint8Array;
  /** In how many tools term t occurs outside phrases: nobody makes a word common by claiming it. */
  readonly toolFrequency: Uint32Array;
  /** Words per tool and field, `tool * fieldCount + field`. */
  readonly lengths: Uint16Array;
  /**
   * Stems of name and description in order, for phrases: term numbers from `sequenceStart[2 * tool]` (name), `[2 *
   * tool + 1]` (description).
   */
  readonly sequence: Uint32Array;
  readonly sequenceStart: Uint32Array;
  /** Stems of the server's name and title in order. */
  readonly serverSequence: Uint32Array;
}

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
  let lengths = new Uint16Array(0);
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

  function local(stem: number): number {
    while (stem >= localOf.length) localOf = grown(localOf).fill(-1, localOf.length);
    const known = (localOf[stem] as number) - before;
    if (known >= 0) return known;
    const term = termCount;
    termCount += 1;
    if (termCount === terms.length) terms = grown(terms);
    terms[term] = stem;
    rows.beginTerm(term);
    localOf[stem] = before + term;
    return term;
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
      if (lengths.length < count * fieldCount) lengths = new Uint16Array(count * fieldCount);
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
      for (let at = 0; at < length; at += 1) {
        rows.add(local(numbers[at] as number), tool, field);
      }
    },
    finish() {
      const arrays = createArrays({ termCount, rows: rows.size, toolCount, sequence, sequenceStart });
      arrays.terms.set(terms.subarray(0, termCount));
      arrays.lengths.set(lengths.subarray(0, toolCount * fieldCount));
      rows.sortInto(arrays);
      return { ...arrays, stems: stems.stems };
    },
  };
}

/** Terms of parts after which counting begins anew: no part has as many as are left up to 32 bits. */
const mostTerms = 2 ** 30;

/** One row per posting in order of arrival; sorted by term at the end. */
interface Rows {
  readonly size: number;
  clear(): void;
  /** A term that has no row yet. */
  beginTerm(term: number): void;
  /** One mention more. */
  add(term: number, tool: number, field: number): void;
  sortInto(arrays: PartArrays): void;
}

function createRows(): Rows {
  /** By term: its last row, and room for where it writes on when rows are sorted: one place more than there are. */
  let lastRow = new Int32Array(1_024);
  let next = new Int32Array(1_024);
  let rowTerm = new Int32Array(4_096);
  let rowTool = new Int32Array(4_096);
  let rowField = new Uint8Array(4_096);
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
    add(term, tool, field) {
      const last = lastRow[term] as number;
      const packed = last < 0 ? 0 : (rowField[last] as number);
      if (last >= 0 && rowTool[last] === tool && packed >> 4 === field) {
        if ((packed & 15) < countLimit) rowField[last] = packed + 1;
        return;
      }
      if (size === rowTerm.length) [rowTerm, rowTool, rowField] = [grown(rowTerm), grown(rowTool), grown(rowField)];
      rowTerm[size] = term;
      rowTool[size] = tool;
      rowField[size] = field * 16 + 1;
      lastRow[term] = size;
      size += 1;
    },
    sortInto: (arrays) => sortRows({ rowTerm, rowTool, rowField, size, next }, arrays),
  };
}

interface RowArrays {
  readonly rowTerm: Int32Array;
  readonly rowTool: Int32Array;
  readonly rowField: Uint8Array;
  readonly size: number;
  readonly next: Int32Array;
}

function sortRows({ rowTerm, rowTool, rowField, size, next }: RowArrays, into: PartArrays): void {
  const { termStart, toolFrequency, postingTool, postingField } = into;
  for (let row = 0; row < size; row += 1) {
    const after = (rowTerm[row] as number) + 1;
    termStart[after] = (termStart[after] as number) + 1;
  }
  for (let term = 1; term < termStart.length; term += 1)
    termStart[term] = (termStart[term] as number) + (termStart[term - 1] as number);
  next.set(termStart);
  for (let row = 0; row < size; row += 1) {
    const term = rowTerm[row] as number;
    const at = next[term] as number;
    next[term] = at + 1;
    postingTool[at] = rowTool[row] as number;
    postingField[at] = rowField[row] as number;
    const isFirst = at === termStart[term] || postingTool[at - 1] !== postingTool[at];
    if (isFirst && (postingField[at] as number) >> 4 !== fields.phrases)
      toolFrequency[term] = (toolFrequency[term] as number) + 1;
  }
}

type PartArrays = Omit<Postings, "stems">;

interface Sizes {
  readonly termCount: number;
  readonly rows: number;
  readonly toolCount: number;
  readonly sequence: StemList;
  readonly sequenceStart: StemList;
}

/**
 * In one piece of memory: there are ten thousand parts in a large catalog, and each piece costs a microsecond and some
 * hundred bytes. Numbers of four bytes come first, so that each array begins where it may.
 */
function createArrays({ termCount, rows, toolCount, sequence, sequenceStart }: Sizes): PartArrays {
  const Tools = toolCount <= 0xffff ? Uint16Array : Uint32Array;
  const startCount = 2 * toolCount + 1;
  const serverFrom =
    sequenceStart.length < startCount ? sequence.length : (sequenceStart.numbers[startCount - 1] as number);
  const wide = 3 * termCount + 1 + startCount + sequence.length;
  const memory = new ArrayBuffer(4 * wide + 2 * toolCount * fieldCount + rows * (Tools.BYTES_PER_ELEMENT + 1));
  let at = 0;
  const next = (bytes: number): number => (at += bytes) - bytes;
  const numbers = (count: number): Uint32Array => new Uint32Array(memory, next(4 * count), count);
  const arrays = {
    termStart: numbers(termCount + 1),
    toolFrequency: numbers(termCount),
    terms: numbers(termCount),
    sequenceStart: numbers(startCount),
    sequence: numbers(serverFrom),
    serverSequence: numbers(sequence.length - serverFrom),
    lengths: new Uint16Array(memory, next(2 * toolCount * fieldCount), toolCount * fieldCount),
    postingTool: new Tools(memory, next(rows * Tools.BYTES_PER_ELEMENT), rows),
    postingField: new Uint8Array(memory, next(rows), rows),
  };
  arrays.sequenceStart.set(sequenceStart.numbers.subarray(0, Math.min(sequenceStart.length, startCount)));
  arrays.sequence.set(sequence.numbers.subarray(0, serverFrom));
  arrays.serverSequence.set(sequence.numbers.subarray(serverFrom, sequence.length));
  return arrays;
}
