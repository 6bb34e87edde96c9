/** One way in which a secret may be written. */
export interface SecretForm {
  /** The form, or its beginning where the secret is long. */
  readonly text: string;
  /** Characters of the whole form. */
  readonly wholeLength: number;
  /** At the end of a line as many characters of it are already too much. */
  readonly cutLength: number;
  /** In base64 the characters before and after it hold bits of the secret as well as of its neighbours. */
  readonly sharesBefore: boolean;
  readonly sharesAfter: boolean;
}

/** Shorter values are no secrets: hiding them would black out half of a log and protect nothing. */
export const shortestForm = 6;

/** So many characters of a secret must not be seen where a line is cut. */
const shownAtMost = 6;

/**
 * Longer secrets (tokens, keys) are searched for by their beginning where they are encoded: a thousand tokens of a
 * few KB each would otherwise take tens of MB.
 */
const encodedAtMost = 256;

/**
 * Beginnings that everybody knows. Without this, a server called `github` would be hidden at the end of every line as
 * soon as somebody has a token that begins with `github_pat_`.
 */
const publicBeginning =
  /^(?:(?:bearer|basic|token|apikey)\s+|[a-z][a-z0-9+.-]*:\/{0,2}|eyJ[A-Za-z0-9_-]*\.?|sk-(?:ant-|proj-|or-)?(?:api\d\d-)?|github_pat_|gh[a-z]_|glpat-|xox[a-z]-|AKIA|ASIA|AIza|npm_|hf_|pypi-|SG\.|[rs]k_(?:live|test)_|-----BEGIN [A-Z ]*-----\s*)/i;

/**
 * Every form in which a secret is recognized: as it is, escaped as in JSON (once, twice, and by writers that escape
 * everything but ASCII, or slashes), in base64 at each of the three places where it can stand in a longer text, in
 * base64url, hex, and as in URLs. None for values that are too short to be secrets.
 */
export function formsOf(secret: string): readonly SecretForm[] {
  if (secret.length < shortestForm) return [];
  const beginning = publicBeginning.exec(secret.slice(0, encodedAtMost))?.[0].length ?? 0;
  const tooMuch = beginning + shownAtMost;
  const forms = new Map<string, SecretForm>();
  const add = (form: SecretForm): void => {
    if (form.text.length >= shortestForm && !forms.has(form.text)) forms.set(form.text, form);
  };
  const start = secret.slice(0, encodedAtMost);
  // Most secrets are the same in JSON and URLs as they are by themselves.
  const isPlain = /^[\w.-]*$/.test(secret);
  for (const write of isPlain ? asIs : asText) add(plainForm(secret, tooMuch, write));
  for (const write of isPlain ? [] : asUrl) {
    const { text, cutLength } = plainForm(start, tooMuch, write);
    add({ ...plain, text, cutLength, wholeLength: start === secret ? text.length : secret.length * 9 });
  }
  const bytes = Buffer.from(start);
  const size = Buffer.byteLength(secret);
  for (const before of [0, 1, 2]) {
    for (const encoding of ["base64", "base64url"] as const)
      add(base64Form(bytes, size, { before, encoding, tooMuch }));
  }
  const hex = { ...plain, text: bytes.toString("hex"), wholeLength: size * 2, cutLength: tooMuch * 2 };
  add(hex);
  add({ ...hex, text: hex.text.toUpperCase() });
  return [...forms.values()];
}

const plain = { sharesBefore: false, sharesAfter: false };

type Write = (text: string) => string;

const inJson: Write = (text) => JSON.stringify(text).slice(1, -1);
const inAsciiJson: Write = (text) =>
  inJson(text).replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** A secret may hold half of a surrogate pair, which `encodeURIComponent` refuses. */
const inUrl: Write = (text) => encodeURIComponent(Buffer.from(text).toString());
const inStrictUrl: Write = (text) =>
  inUrl(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
const inFormBody: Write = (text) => inStrictUrl(text).replaceAll("%20", "+").replaceAll("~", "%7E");
const inPath: Write = (text) => encodeURI(Buffer.from(text).toString());
const inLowerCase = (write: Write): Write => {
  return (text) => write(text).replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
};

const asIs: readonly Write[] = [(text) => text];
const asText: readonly Write[] = [
  ...asIs,
  inJson,
  (text) => inJson(inJson(text)),
  inAsciiJson,
  (text) => inJson(text).replaceAll("/", "\\/"),
];
const encodings: readonly Write[] = [inUrl, inStrictUrl, inFormBody, inPath];
const asUrl: readonly Write[] = [...encodings, ...encodings.map(inLowerCase)];

function plainForm(secret: string, tooMuch: number, write: Write): SecretForm {
  const text = write(secret);
  return { ...plain, text, wholeLength: text.length, cutLength: write(secret.slice(0, tooMuch)).length };
}

interface Base64Place {
  /** Bytes of something else in the group of three where the secret begins. */
  readonly before: number;
  readonly encoding: "base64" | "base64url";
  readonly tooMuch: number;
}

/** Those characters of the encoded text that hold nothing but bits of the secret. */
function base64Form(bytes: Buffer, size: number, { before, encoding, tooMuch }: Base64Place): SecretForm {
  const text = Buffer.concat([Buffer.alloc(before), bytes]).toString(encoding);
  const first = Math.ceil((before * 8) / 6);
  const lastBit = (before + bytes.length) * 8;
  return {
    text: text.slice(first, Math.floor(lastBit / 6)),
    wholeLength: Math.floor(((before + size) * 8) / 6) - first,
    cutLength: Math.ceil((tooMuch * 8) / 6),
    sharesBefore: before > 0,
    sharesAfter: lastBit % 6 > 0 || size > bytes.length,
  };
}
