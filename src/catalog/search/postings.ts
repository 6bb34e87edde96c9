import { field as fields, fieldCount } from "./fields.ts";

/** Highest count of one word in one field; the ranking saturates far below. */
const countLimit = 15;

/** Which tools of one instance hold which stems, in typed arrays. */
export interface Postings {
  /** Stems, by number. */
  readonly terms: readonly string[];
  /** Postings of term t: from `termStart[t]` to `termStart[t + 1]`, by tool. */
  readonly termStart: Uint32Array;
  readonly postingTool: Uint16Array | Uint32Array;
  /** Field number in the high four bits, count in the low four. */
  readonly postingField: Uint8Array;
  /** In how many tools term t occurs outside phrases: nobody makes a word common by claiming it. */
  readonly toolFrequency: Uint32Array;
  /** Words per tool and field, `tool * fieldCount + field`. */
  readonly lengths: Uint16Array;
}

export interface PostingsBuilder {
  /** The number of a stem, a new one if it is new. */
  number(stem: string): number;
  /** All stems of one field of one tool. Tools in ascending order, each field of a tool once, phrases last. */
  add(tool: number, field: number, stems: readonly string[]): void;
  finish(): Postings;
}

export function createPostings(toolCount: number): PostingsBuilder {
  const numbers = new Map<string, number>();
  const lengths = new Uint16Array(toolCount * fieldCount);
  // One row per posting in order of arrival; sorted by term at the end.
  const rowTerm: number[] = [];
  const rowTool: number[] = [];
  const rowField: number[] = [];
  const lastRow: number[] = [];

  function number(stem: string): number {
    let term = numbers.get(stem);
    if (term === undefined) {
      term = numbers.size;
      numbers.set(stem, term);
      lastRow.push(-1);
    }
    return term;
  }

  return {
    number,
    add(tool, field, stems) {
      lengths[tool * fieldCount + field] = Math.min(stems.length, 0xffff);
      for (const stem of stems) {
        const term = number(stem);
        const last = lastRow[term] as number;
        const packed = rowField[last];
        if (packed !== undefined && rowTool[last] === tool && packed >> 4 === field) {
          if ((packed & 15) < countLimit) rowField[last] = packed + 1;
        } else {
          lastRow[term] = rowTerm.push(term) - 1;
          rowTool.push(tool);
          rowField.push(field * 16 + 1);
        }
      }
    },
    finish: () => ({
      terms: [...numbers.keys()],
      lengths,
      ...sortRows({ rowTerm, rowTool, rowField }, numbers.size, toolCount),
    }),
  };
}

interface Rows {
  readonly rowTerm: readonly number[];
  readonly rowTool: readonly number[];
  readonly rowField: readonly number[];
}

function sortRows(rows: Rows, termCount: number, toolCount: number): Omit<Postings, "terms" | "lengths"> {
  const { rowTerm, rowTool, rowField } = rows;
  const termStart = new Uint32Array(termCount + 1);
  for (const term of rowTerm) termStart[term + 1] = (termStart[term + 1] as number) + 1;
  for (let term = 0; term < termCount; term += 1)
    termStart[term + 1] = (termStart[term + 1] as number) + (termStart[term] as number);
  const next = termStart.slice();
  const postingTool = toolCount <= 0xffff ? new Uint16Array(rowTerm.length) : new Uint32Array(rowTerm.length);
  const postingField = new Uint8Array(rowTerm.length);
  const toolFrequency = new Uint32Array(termCount);
  for (let row = 0; row < rowTerm.length; row += 1) {
    const term = rowTerm[row] as number;
    const at = next[term] as number;
    next[term] = at + 1;
    postingTool[at] = rowTool[row] as number;
    postingField[at] = rowField[row] as number;
    const isFirst = at === termStart[term] || postingTool[at - 1] !== postingTool[at];
    if (isFirst && (postingField[at] as number) >> 4 !== fields.phrases)
      toolFrequency[term] = (toolFrequency[term] as number) + 1;
  }
  return { termStart, postingTool, postingField, toolFrequency };
}
