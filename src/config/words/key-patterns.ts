import {
  backslash,
  carriageReturn,
  caseBit,
  colon,
  lineFeed,
  lowerA,
  minus,
  point,
  quote,
  space,
  tab,
} from "../../wire/json/characters.ts";
import { redacted, type Spans } from "./spans.ts";

/** The characters of which a part of a key may consist: a 1 at each code of ASCII. */
type Letters = Uint8Array;

/** One part of a key: so many characters of a kind, behind a point where it is not the first. */
interface Part {
  readonly of: Letters;
  readonly least: number;
  readonly most?: number;
  /** Whether the key may end before it. */
  readonly isOptional?: boolean;
}

const alphanumeric = lettersOf(/[A-Za-z0-9]/);
const word = lettersOf(/\w/);
const wordOrHyphen = lettersOf(/[\w-]/);
const base64 = lettersOf(/[A-Za-z0-9+/=]/);
/** What follows a key of a fixed length must be none of these. */
const keyLetters = lettersOf(/[\w+/=-]/);
const credentialLetters = lettersOf(/[\w.~+/-]/);
const pemLetters = lettersOf(/[A-Za-z0-9+/=\s:,]/);
const endOfUserInfo = lettersOf(/[\s/?#"'<>\\]/);

/**
 * Keys that are recognised by their format alone. Each begins with letters that its issuer chose so that scanners find
 * it, and is as long as the issuer makes it: hashes of git, UUIDs and pictures in base64 are none of these.
 *
 * A part is read to its end and never given back, and ends where no key goes on, so that no text is read more than a
 * few times, whatever it repeats. There is no regular expression without a bound: one that is tried at a text of many
 * megabytes runs out of its stack.
 */
const keys: readonly (readonly [beginnings: string, ...parts: Part[]])[] = [
  // Anthropic, OpenAI, OpenRouter and others that took over `sk-`; names of CSS classes have no digits.
  ["sk-", { of: wordOrHyphen, least: 20 }],
  // GitHub: personal, OAuth, user, server and refresh tokens; then the fine-grained ones.
  ["gho_ ghp_ ghs_ ghu_ ghr_", { of: alphanumeric, least: 20 }],
  ["github_pat_", { of: word, least: 20 }],
  // GitLab
  ["glpat- glptt- gldt- glrt- glcbt- glft- glsoat-", { of: wordOrHyphen, least: 20 }],
  // Slack
  ["xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-", { of: lettersOf(/[A-Za-z0-9-]/), least: 10 }],
  // AWS: long-lived and temporary access keys. The secret key that belongs to them has no look of its own.
  ["AKIA ASIA", { of: lettersOf(/[A-Z0-9]/), least: 16, most: 16 }],
  // Google
  ["AIza", { of: wordOrHyphen, least: 35, most: 35 }],
  // JSON Web Tokens, signed (three parts) or encrypted (five): `eyJ` is `{"` in base64.
  [
    "eyJ",
    { of: wordOrHyphen, least: 8 },
    { of: wordOrHyphen, least: 2 },
    ...Array.from({ length: 3 }, () => ({ of: wordOrHyphen, least: 0, isOptional: true })),
  ],
  // npm, Hugging Face, PyPI, SendGrid, Stripe and its webhooks
  ["npm_", { of: alphanumeric, least: 36 }],
  ["hf_", { of: alphanumeric, least: 30 }],
  ["pypi-", { of: wordOrHyphen, least: 50 }],
  ["SG.", { of: wordOrHyphen, least: 16 }, { of: wordOrHyphen, least: 16 }],
  ["rk_live_ rk_test_ sk_live_ sk_test_", { of: alphanumeric, least: 16 }],
  ["whsec_", { of: base64, least: 24 }],
];

type Beginning = readonly [text: string, parts: readonly Part[]];

/** The keys by the three characters that they begin with. */
const keysByStart: ReadonlyMap<string, readonly Beginning[]> = (() => {
  const groups = new Map<string, Beginning[]>();
  for (const [beginnings, ...parts] of keys) {
    for (const text of beginnings.split(" ")) {
      const start = text.slice(0, 3);
      groups.set(start, [...(groups.get(start) ?? []), [text, parts]]);
    }
  }
  return groups;
})();

/**
 * What its name marks: in a URL or an environment (`token=`), or as a text in JSON (`"token":"`), which may itself
 * stand in JSON. Names that only contain such a word (`tokenizer=`) are none. Prose with a colon is too often prose.
 */
const nameEndings = [
  ...["password", "passwd", "pwd", "passphrase", "secret", "token", "apikey", "api_key", "api-key", "authorization"],
  ...["accesskey", "access_key", "access-key", "privatekey", "private_key", "private-key", "cookie", "signature"],
  ...["credential", "credentials"],
];
const longestEnding = 14;
/** Most names are told apart by their last three letters. */
const lastLetters: ReadonlySet<number> = new Set(nameEndings.map((name) => lastThree(name, name.length)));

/** Finds keys by their look. */
export interface KeyFinder {
  /** Adds to `found` where keys are, and values named as one. Takes time in proportion to the text. */
  find(text: string, found: Spans): void;
  /** The same for keys that their issuers' formats alone make known, and private keys: names mark none. */
  findShapes(text: string, found: Spans): void;
}

/**
 * A text is read once, three characters at a time: only where those may begin a key is it looked at more closely.
 * Regular expressions over the whole text take ten times as long.
 */
export function createKeyFinder(): KeyFinder {
  const quotes = /\\{0,3}"\s{0,2}:\s{0,2}(\\{0,3}")/y;

  function findExact(text: string, start: number, found: Spans): void {
    const three = text.slice(start, start + 3);
    if (three === "---") return addWhere(found, start, endOfPrivateKey(text, start));
    if (three === "://") return addWhere(found, start + 3, endOfUser(text, start + 3));
    if (!isBoundary(text, start)) return;
    for (const [beginning, parts] of keysByStart.get(three) ?? []) {
      if (!text.startsWith(beginning, start)) continue;
      const end = endOfKey(text, start + beginning.length, parts);
      if (end !== undefined && (beginning !== "sk-" || /\d/.test(text.slice(start, end)))) found.add(start, end);
    }
  }

  /** Returns where the value ends that begins after the `=` or `:` at `at`, if its name says that it is secret. */
  function findNamed(text: string, at: number, found: Spans): number {
    const isPlain = text.charCodeAt(at) === equals;
    let nameEnd = at;
    if (!isPlain) while (nameEnd > at - 6 && !isWordAt(text, nameEnd - 1)) nameEnd -= 1;
    if (nameEnd < 3 || !lastLetters.has(lastThree(text, nameEnd))) return at;
    const name = text.slice(Math.max(0, nameEnd - longestEnding), nameEnd).toLowerCase();
    if (!nameEndings.some((ending) => name.endsWith(ending))) return at;
    quotes.lastIndex = nameEnd;
    const between = isPlain ? undefined : quotes.exec(text);
    if (between === null) return at;
    const start = nameEnd + (between?.[0].length ?? 1);
    const end = between === undefined ? endOfPlain(text, start) : endOfQuoted(text, start, between[1] ?? "");
    if (end > start && !isPlaceholder(text.slice(start, end))) found.add(start, end);
    return end;
  }

  return {
    find(text, found) {
      const credentials = createCredentialFinder(text, found);
      let block = 0;
      // Hidden spans are not searched for names, so that `token=token=...` is not read again and again.
      let namedUntil = 0;
      for (let at = 0; at < text.length; at += 1) {
        const code = text.charCodeAt(at);
        block = ((block << 7) ^ code) & threeCharacters;
        const kind = beginnings[placeOf(block)] as number;
        if (kind === keyBegins) findExact(text, at - 2, found);
        else if (kind === bearerEnds) credentials(at - 5);
        else if (kind === basicEnds) credentials(at - 4);
        else if ((code === equals || (code === colon && isQuoteBefore(text, at))) && at >= namedUntil)
          namedUntil = findNamed(text, at, found);
      }
    },
    findShapes(text, found) {
      for (let at = text.indexOf(pemStart); at !== -1;) {
        const end = endOfPrivateKey(text, at);
        addWhere(found, at, end);
        at = text.indexOf(pemStart, end ?? at + 1);
      }
      for (let start = runFrom(text, 0); start < text.length;) {
        let at = start;
        // Behind an escape of JSON or of a URL a key may begin with the second or third letter of a run.
        for (; shapeLetters[text.charCodeAt(at)] === 1; at += 1)
          if (at - start <= 2 || wordOrHyphen[text.charCodeAt(at - 1)] !== 1) findExact(text, at, found);
        start = runFrom(text, at);
      }
    },
  };
}

const pemStart = "-----BEGIN ";
const shapeLetters = lettersOf(/[\w+/=.-]/);
/** Characters of the shortest key. */
const shortestKey = Math.min(...keys.map(([beginnings, ...parts]) => shortestOf(beginnings, parts)));

function shortestOf(beginnings: string, parts: readonly Part[]): number {
  const needed = parts.filter(({ isOptional = false }) => !isOptional);
  const beginning = Math.min(...beginnings.split(" ").map(({ length }) => length));
  return needed.reduce((sum, { least }) => sum + least, beginning + needed.length - 1);
}

/** Where letters of keys begin that are as many as a key has; most of a text of words is skipped. */
function runFrom(text: string, from: number): number {
  let start = from;
  while (start + shortestKey <= text.length) {
    let at = start + shortestKey - 1;
    while (at >= start && shapeLetters[text.charCodeAt(at)] === 1) at -= 1;
    if (at < start) return start;
    start = at + 1;
  }
  return text.length;
}

function addWhere(found: Spans, start: number, end: number | undefined): void {
  if (end !== undefined) found.add(start, end);
}

/** Not inside a word; a line break in JSON (`\n`) and an encoded character in a URL (`%20`) are no part of one. */
function isBoundary(text: string, start: number): boolean {
  if (start <= 0 || wordOrHyphen[text.charCodeAt(start - 1)] !== 1) return true;
  if (text.charCodeAt(start - 2) === backslash && "bfnrt".includes(text.charAt(start - 1))) return true;
  return /^%[0-9A-Fa-f]{2}$/.test(text.slice(Math.max(0, start - 3), start));
}

/** Where the characters of a kind end that begin at `start`. */
function endOfRun(text: string, start: number, letters: Letters): number {
  let at = start;
  while (letters[text.charCodeAt(at)] === 1) at += 1;
  return at;
}

/** Where a key ends of which the beginning is before `start`; undefined where it is none. */
function endOfKey(text: string, start: number, parts: readonly Part[]): number | undefined {
  let end = start;
  for (const [index, { of, least, most = Infinity, isOptional = false }] of parts.entries()) {
    if (index > 0 && text.charCodeAt(end) !== point) return isOptional ? end : undefined;
    const from = index === 0 ? end : end + 1;
    end = endOfRun(text, from, of);
    if (end - from < least || end - from > most) return undefined;
    if (most !== Infinity && keyLetters[text.charCodeAt(end)] === 1) return undefined;
  }
  return end;
}

const pemBegin = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/y;
const pemEnd = /-----END [A-Z0-9 ]{0,40}-----/y;

/**
 * The end of a private key, with line breaks of any kind. Where its own end is missing, the text that looks like more
 * of it is hidden: its line may be JSON, whose end must stay.
 */
function endOfPrivateKey(text: string, start: number): number | undefined {
  let at = endOfMatch(pemBegin, text, start);
  if (at === undefined) return undefined;
  for (;;) {
    const code = text.charCodeAt(at);
    if (pemLetters[code] === 1 || (code === hyphen && text.charCodeAt(at + 1) !== hyphen)) at += 1;
    else if (code === backslash && "nrt".includes(text.charAt(at + 1) || "-")) at += 2;
    else if (code > 127 && text.charAt(at).trim() === "") at += 1;
    else return endOfMatch(pemEnd, text, at) ?? at;
  }
}

function endOfMatch(sticky: RegExp, text: string, start: number): number | undefined {
  sticky.lastIndex = start;
  return sticky.test(text) ? sticky.lastIndex : undefined;
}

/** A password may hold an `@`: the last one before the host counts. */
function endOfUser(text: string, start: number): number | undefined {
  let end: number | undefined;
  for (let at = start; at <= start + longestUser && at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (endOfUserInfo[code] === 1 || (code > 127 && text.charAt(at).trim() === "")) break;
    if (code === atSign && at > start) end = at;
  }
  return end !== undefined && isUserInfoSecret(text.slice(start, end)) ? end : undefined;
}

const longestUser = 512;

/**
 * Credentials as HTTP writes them: their scheme, and what follows. One text may hold a scheme within the credentials of
 * another (`bearer+bearer+`): they end together, and the rules of the outer one apply.
 */
function createCredentialFinder(text: string, found: Spans): (start: number) => void {
  /** Where the characters end that were read last, and where those that are hidden end. */
  let readUntil = 0;
  let bearerUntil = 0;
  let basicUntil = 0;
  return (start) => {
    const valueStart = endOfMatch(credentialBegin, text, start);
    if (valueStart === undefined) return;
    if (valueStart >= readUntil) {
      readUntil = endOfRun(text, valueStart, credentialLetters);
      for (let more = 0; more < 2 && text.charCodeAt(readUntil) === equals; more += 1) readUntil += 1;
    }
    const isBasic = (text.charCodeAt(start + 1) | caseBit) === lowerA;
    if (valueStart < (isBasic ? basicUntil : bearerUntil)) return;
    const value = text.slice(valueStart, readUntil);
    const isHidden = isBasic ? isBasicCredential(value) : isBearerCredential(value);
    if (isHidden) found.add(valueStart, readUntil);
    if (!isBasic) bearerUntil = readUntil;
    else if (isHidden) basicUntil = readUntil;
  };
}

const credentialBegin = /\b(?:bearer|basic)(?:\s|%20|\+){1,4}(?=[\w.~+/-]{8})/iy;

const hyphen = minus;
const equals = 0x3d;
const atSign = 0x40;
const threeCharacters = 0x1f_ffff;
const keyBegins = 1;
const bearerEnds = 2;
const basicEnds = 3;

/** What three characters may mean, by a number made of them. Others may have the same number. */
const beginnings = tableOf([
  [keyBegins, [...keysByStart.keys(), "---", "://"]],
  [bearerEnds, ["rer", "RER"]],
  [basicEnds, ["sic", "SIC"]],
]);

function tableOf(rows: readonly (readonly [number, readonly string[]])[]): Uint8Array {
  const table = new Uint8Array(4_096);
  for (const [kind, blocks] of rows) {
    for (const block of blocks) {
      let number = 0;
      for (const character of block) number = (number << 7) ^ character.charCodeAt(0);
      table[placeOf(number & threeCharacters)] = kind;
    }
  }
  return table;
}

function placeOf(block: number): number {
  return Math.imul(block, 0x9e3779b1) >>> 20;
}

/** A number for three letters in either case. */
function lastThree(text: string, end: number): number {
  const one = text.charCodeAt(end - 3) | caseBit;
  const two = text.charCodeAt(end - 2) | caseBit;
  return (one << 14) ^ (two << 7) ^ (text.charCodeAt(end - 1) | caseBit);
}

function isQuoteBefore(text: string, at: number): boolean {
  const code = text.charCodeAt(at - 1);
  if (code === quote) return true;
  return isSpace(code) && (text.charCodeAt(at - 2) === quote || text.charCodeAt(at - 3) === quote);
}

function isSpace(code: number): boolean {
  return code === space || code === tab || code === lineFeed || code === carriageReturn;
}

function isWordAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code !== quote && code !== backslash && !isSpace(code);
}

/** `git@` and `postgres@` are names; with a password, or where the name is a key, nothing of it is shown. */
function isUserInfoSecret(user: string): boolean {
  return !isPlaceholder(user) && (/:./.test(user) || (user.length >= 16 && /\d/.test(user)));
}

/** A variable's name has to be seen in the message that says that it is not set. */
function isPlaceholder(text: string): boolean {
  return text.includes("${") || text.includes(redacted);
}

/** Prose says "Bearer authentication". */
function isBearerCredential(credential: string): boolean {
  if (/\d/.test(credential)) return true;
  return !credential.endsWith("=") && credential.length >= 16 && /[a-z]/.test(credential) && /.[A-Z]/.test(credential);
}

/**
 * A challenge says `Basic realm="..."`. The beginning of a long one decides: it is asked at each `basic` of a text that
 * may consist of nothing else.
 */
function isBasicCredential(credential: string): boolean {
  const isLong = credential.length > judgedBasic;
  const decoded = Buffer.from(credential.slice(0, judgedBasic), "base64").toString("utf8");
  // The last character may have been cut.
  if (/[\p{Cc}\uFFFD]/u.test(isLong ? decoded.replace(/\uFFFD$/, "") : decoded)) return false;
  return isLong || decoded.includes(":");
}

const judgedBasic = 256;

/** Which codes of ASCII the expression is true of, which is for one character. */
function lettersOf(one: RegExp): Letters {
  return Uint8Array.from({ length: 128 }, (_, code) => Number(one.test(String.fromCharCode(code))));
}

function endOfPlain(text: string, start: number): number {
  const length = text.slice(start, start + longestPlain).search(/[\s&;,"'<>#\\)]/);
  return length === -1 ? Math.min(text.length, start + longestPlain) : start + length;
}

/** A longer text is no value in a URL or an environment. */
const longestPlain = 4_096;

/** The end of a text in JSON that began with this quote: `"`, or `\"` for JSON within JSON. */
function endOfQuoted(text: string, start: number, quote: string): number {
  const depth = quote.length - 1;
  for (let at = text.indexOf('"', start); at !== -1; at = text.indexOf('"', at + 1)) {
    let escapes = 0;
    while (at - escapes > start && text.charCodeAt(at - escapes - 1) === backslash) escapes += 1;
    // More of them are a quote inside the value, perhaps after backslashes of its own; fewer end the enclosing text.
    if (escapes < depth || escapes % (2 * depth + 2) === depth) return at - Math.min(escapes, depth);
  }
  return text.length;
}
