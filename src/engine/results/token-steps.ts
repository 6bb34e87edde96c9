/**
 * What each byte of a text adds to its tokens, in thousandths, by the kind of the byte and what came before it. Much
 * cheaper than `token-estimate.ts`, which looks at words, and a little higher, so that a text cut by it fits.
 */

/** Kinds of characters. From `space` on they are places at which a text may be cut. */
export const kinds = {
  lower: 0,
  upper: 1,
  digit: 2,
  sign: 3,
  wide: 4,
  inner: 5,
  space: 6,
  lineEnd: 7,
  comma: 8,
} as const;

/** What the last characters were. */
const states = [
  "start",
  "lower",
  "upper",
  "digit1",
  "digit2",
  "digit3",
  "sign",
  "signs",
  "more signs",
  "wide",
  "space",
  "spaces",
  "line",
] as const;
type State = (typeof states)[number];

const word = 1_000;

/** For each state and kind: the thousandths that are added, and the state that follows. */
const rules: Readonly<Record<State, readonly (readonly [price: number, next: State])[]>> = {
  // In the order of: lower, upper, digit, sign, space, line end.
  start: row([word, "lower"], [word, "upper"], [word, "digit1"], [word, "sign"], [0, "spaces"], [word, "line"]),
  lower: row([18, "lower"], [word, "upper"], [word, "digit1"], [word, "sign"], [0, "space"], [word, "line"]),
  upper: row([20, "lower"], [150, "upper"], [word, "digit1"], [word, "sign"], [0, "space"], [word, "line"]),
  digit1: row([word, "lower"], [word, "upper"], [0, "digit2"], [word, "sign"], [0, "space"], [word, "line"]),
  digit2: row([word, "lower"], [word, "upper"], [0, "digit3"], [word, "sign"], [0, "space"], [word, "line"]),
  digit3: row([word, "lower"], [word, "upper"], [word, "digit1"], [word, "sign"], [0, "space"], [word, "line"]),
  sign: row([350, "lower"], [350, "upper"], [word, "digit1"], [0, "signs"], [0, "space"], [word, "line"]),
  signs: row([word, "lower"], [word, "upper"], [word, "digit1"], [80, "more signs"], [0, "space"], [word, "line"]),
  "more signs": row(
    [word, "lower"],
    [word, "upper"],
    [word, "digit1"],
    [580, "more signs"],
    [0, "space"],
    [word, "line"],
  ),
  wide: row([word, "lower"], [word, "upper"], [word, "digit1"], [word, "sign"], [100, "space"], [word, "line"]),
  space: row([word, "lower"], [word, "upper"], [2 * word, "digit1"], [word, "sign"], [word, "spaces"], [word, "line"]),
  spaces: row([word, "lower"], [word, "upper"], [2 * word, "digit1"], [word, "sign"], [16, "spaces"], [16, "line"]),
  // A line end is a token of its own before a number, which a space is not always.
  line: row([word, "lower"], [word, "upper"], [word, "digit1"], [word, "sign"], [16, "spaces"], [16, "line"]),
};

type Rule = readonly [price: number, next: State];

/** Rules for the kinds in their order; characters beyond ASCII have prices of their own, and a comma is a sign. */
function row(...rule: readonly [Rule, Rule, Rule, Rule, Rule, Rule]): readonly Rule[] {
  const [lower, upper, digit, sign, space, lineEnd] = rule;
  return [lower, upper, digit, sign, [0, "wide"], [0, "wide"], space, lineEnd, sign];
}

const width = 16;

/** For each state and kind, at `state + kind`: the price in the lower twelve bits, above them the next state. */
export const steps = new Int32Array(states.length * width);
for (const [index, state] of states.entries())
  for (const [kind, [price, next]] of rules[state].entries())
    steps[index * width + kind] = price | ((states.indexOf(next) * width) << 12);

/**
 * State of a text's beginning. The loop in `text-parts.ts` knows one more: 128, many signs, where equal ones cost less.
 */
export const startState = states.indexOf("start") * width;

/** The kind of each byte. */
export const kindOfByte = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte >= 0xc0) return kinds.wide;
  if (byte >= 0x80) return kinds.inner;
  if (byte >= 0x61 && byte <= 0x7a) return kinds.lower;
  if (byte >= 0x41 && byte <= 0x5a) return kinds.upper;
  if (byte >= 0x30 && byte <= 0x39) return kinds.digit;
  if (byte === 0x0a || byte === 0x0d) return kinds.lineEnd;
  if (byte === 0x20 || byte === 0x09 || byte === 0x0b || byte === 0x0c) return kinds.space;
  return byte === 0x2c ? kinds.comma : kinds.sign;
});

/** The last first byte of each group of scripts, and the price of a character of the dearest among them. */
const leads: readonly (readonly [last: number, price: number])[] = [
  [0xbf, 0],
  [0xc9, 1_100], // signs, Latin with accents
  [0xcd, 700],
  [0xcf, 360], // Greek
  [0xd3, 300], // Cyrillic
  [0xd6, 600],
  [0xd7, 500], // Hebrew
  [0xdb, 360], // Arabic
  [0xdf, 1_000],
  [0xe0, 450], // scripts of India, Thai, Lao
  [0xe1, 1_200],
  [0xe2, 1_300], // dashes, quotes, arrows, symbols
  [0xe3, 900], // kana
  [0xe9, 900], // Han
  [0xea, 1_000],
  [0xed, 700], // Hangul
  [0xef, 1_100],
  [0xf0, 2_500], // emoji, rare Han
  [0xff, 4_000],
];

/** Thousandths for a character beyond ASCII, by its first byte in UTF-8. */
export const priceOfLead = Uint16Array.from(
  { length: 256 },
  (_, byte) => leads.find(([last]) => byte <= last)?.[1] ?? 0,
);
