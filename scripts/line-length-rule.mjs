// A rule for oxlint: no line over 120 columns, comments included. The formatter breaks all code that can be broken, and
// leaves comments, strings, templates and patterns as they are. The latter may be longer, because a title, a pattern
// or a line of a page that is broken is harder to read and to find; a comment may not, except for an address at its
// end.

/** Columns: that of the formatter. */
export const widestLine = 120;

/** Whether the line is too long only for an address at its end, which cannot be broken. */
function endsInAddress(line) {
  const text = line.replace(/\*\/\s*$/, "").trimEnd();
  const word = text.slice(text.lastIndexOf(" ") + 1);
  return /^[(<`"]?https?:\/\//.test(word) && text.length - word.length <= widestLine;
}

function isText({ type, value, regex }) {
  return type === "TemplateLiteral" || typeof value === "string" || regex !== undefined;
}

function longLines(lines) {
  return new Map(
    lines
      .map((line, index) => [index + 1, [...line].length])
      .filter(([number, columns]) => columns > widestLine && !endsInAddress(lines[number - 1])),
  );
}

export const lineLength = {
  meta: {
    type: "layout",
    messages: { long: "This line has {{columns}} columns, and none may have more than {{most}}." },
  },
  create(context) {
    const long = longLines(context.sourceCode.lines);
    if (long.size === 0) return {};
    const inText = new Set();
    const allowText = (node) => {
      if (!isText(node)) return;
      for (let line = node.loc.start.line; line <= node.loc.end.line; line += 1) inText.add(line);
    };
    return {
      Literal: allowText,
      TemplateLiteral: allowText,
      "Program:exit"() {
        // A comment behind a string is still a comment.
        for (const { loc } of context.sourceCode.getAllComments())
          if (loc.end.column > widestLine) inText.delete(loc.end.line);
        for (const [line, columns] of long) {
          if (inText.has(line)) continue;
          const loc = { start: { line, column: widestLine }, end: { line, column: columns } };
          context.report({ loc, messageId: "long", data: { columns, most: widestLine } });
        }
      },
    };
  },
};
