// Control and combining characters are what this file is about.
/* oxlint-disable no-control-regex, no-misleading-character-class */
/** Text of a server as a person or a model may see it, and whether anything hidden was taken out of it. */
export interface VisibleText {
  readonly text: string;
  readonly flagged: boolean;
}

/**
 * Removes what a reader cannot see or what changes how the rest is displayed: terminal escapes, control characters,
 * bidirectional overrides, zero-width characters, Unicode tags, fillers and stray variation selectors. Malicious
 * servers hide instructions to models in them. Joiners and selectors stay where writing needs them: inside emoji, and
 * between letters of scripts that join. Line breaks and tabs stay; half a surrogate pair becomes U+FFFD. Linear in
 * the length of the text.
 */
export function visibleText(text: string): VisibleText {
  if (!suspicious.test(text)) return { text, flagged: false };
  const shown = text
    .replace(terminalEscapes, "")
    .replace(hidden, "")
    .replace(joiners, keepInWriting)
    .replace(selectors, keepAfterSign)
    .replace(halfPairs, "\uFFFD");
  return { text: shown, flagged: shown !== text };
}

/**
 * JSON text with every hidden character written as an escape: it means the same to a parser and hides nothing from a
 * reader. For what must arrive unchanged, such as property names, enum values and whole schemas.
 */
export function escapeHidden(json: string): string {
  return json.replace(hidden, (character) =>
    // Raw line breaks and tabs cannot occur inside JSON strings, so every match is inside a string.
    Array.from(
      { length: character.length },
      (_, unit) => `\\u${character.charCodeAt(unit).toString(16).padStart(4, "0")}`,
    ).join(""),
  );
}

/** Matches anything that a later step may remove. Almost every text fails this test and is returned unchanged. */
const suspicious =
  /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]|\p{Surrogate}/u;

/**
 * CSI, OSC (up to its terminator or the end of the line), other string sequences and two-character escapes, in their
 * 7-bit and 8-bit forms.
 */
const terminalEscapes =
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\n\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?|\x1b[ -/]*[0-~]/g;

const hidden =
  /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;

const joiners = /[\u200c\u200d]+/g;
const selectors = /[\ufe00-\ufe0f]+/g;
const halfPairs = /\p{Surrogate}/gu;

function keepInWriting(run: string, at: number, whole: string): string {
  if (run.length > 1) return "";
  const before = whole.slice(Math.max(0, at - 2), at);
  const after = whole.slice(at + 1, at + 3);
  const emoji =
    run === "\u200d" &&
    /(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)$/u.test(before) &&
    /^\p{Extended_Pictographic}/u.test(after);
  return emoji || (joining.test(before.slice(-1)) && joining.test(after.charAt(0))) ? run : "";
}

/** Scripts in whose spelling U+200C and U+200D carry meaning. */
const joining =
  /[\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Mongolian}\p{Script=Syriac}]/u;

function keepAfterSign(run: string, at: number, whole: string): string {
  const before = whole.slice(Math.max(0, at - 2), at);
  return run.length === 1 && /[\p{So}\p{Sm}\p{Emoji}\p{Script=Han}]$/u.test(before) ? run : "";
}
