// A rule for oxlint: words that make a sentence hard to read, in comments and in text. It is off in the project's own
// lint, because a word may still have its place: test/lint/plain-words.test.ts counts what it finds, with a limit for
// every word that may only shrink.

/** Better: a noun as the subject ("the caller", "the result"), "no one", "unclaimed", "is in", "removed", "again". */
export const plainWords = {
  whoever: /\bwhoever\b/gi,
  nobody: /\bnobody\b/gi,
  "what is": /\bwhat is\b(?![^.?!]*\?)/gi,
  stands: /\bstands\b/gi,
  gone: /\bgone\b/gi,
  anew: /\banew\b/gi,
};

/** Names between backticks are code: `gone` may be a state. */
function withoutCode(text) {
  return text.replaceAll(/`[^`]*`/g, "``");
}

/** Comments that continue each other are one text, so that a word at the end of a line meets the next one. */
function blocksOf(comments) {
  const blocks = [];
  for (const { type, value, loc } of comments) {
    const last = blocks.at(-1);
    const text = withoutCode(value.replace(/\s*\n\s*\*?\s*/g, " ").trim());
    const continues = type === "Line" && last?.type === "Line" && last.loc.end.line === loc.start.line - 1;
    if (continues)
      blocks[blocks.length - 1] = { type, text: `${last.text} ${text}`, loc: { ...last.loc, end: loc.end } };
    else blocks.push({ type, text, loc });
  }
  return blocks;
}

export const plainText = {
  meta: { type: "suggestion", messages: { word: "{{word}}" } },
  create(context) {
    const look = (text, loc) => {
      for (const [word, pattern] of Object.entries(plainWords))
        for (const _ of text.matchAll(pattern)) context.report({ loc, messageId: "word", data: { word } });
    };
    // One word alone is a value and no sentence; a path has no space either.
    const lookAtText = (text, loc) => text.trim().includes(" ") && look(text, loc);
    return {
      Literal: ({ value, loc }) => typeof value === "string" && lookAtText(value, loc),
      TemplateElement: ({ value, loc }) => lookAtText(value.raw, loc),
      JSXText: ({ value, loc }) => lookAtText(value, loc),
      "Program:exit"() {
        for (const { text, loc } of blocksOf(context.sourceCode.getAllComments())) look(text, loc);
      },
    };
  },
};
