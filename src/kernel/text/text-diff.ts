import { structuredPatch } from "diff";

export interface DiffStyle {
  /** How many unchanged lines are shown around a change. */
  readonly around?: number;
  /** Whether each group of changes says where it is, as `diff -u` does: `@@ -1,2 +1,3 @@`. */
  readonly places?: boolean;
}

/**
 * What changes between two texts, as lines that begin with `-`, `+` or a space. Groups that stand apart are kept apart
 * by their places, also where these are not asked for. Line ends and byte-order marks do not count as changes.
 */
export function diffLines(
  before: string,
  after: string,
  { around = 2, places = false }: DiffStyle = {},
): readonly string[] {
  const { hunks } = structuredPatch("", "", toText(before), toText(after), "", "", { context: around });
  return hunks.flatMap((hunk) => {
    const place = `@@ -${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines} @@`;
    return places || hunks.length > 1 ? [place, ...hunk.lines] : hunk.lines;
  });
}

/** With one kind of line end, also behind the last line, where a missing one would be reported as a change. */
function toText(text: string): string {
  const lines = text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  return lines === "" || lines.endsWith("\n") ? lines : `${lines}\n`;
}
