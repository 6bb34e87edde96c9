import { backslash, carriageReturn, caseBit, colon, lineFeed, quote, space, tab } from "../wire/json/characters.ts";
import { redacted, type Spans } from "./spans.ts";

/**
 * Keys that are known by their look, though nobody told the gateway of them. Each begins with letters that its issuer
 * chose so that scanners find it, and is as long as the issuer makes it: hashes of git, UUIDs and pictures in base64
 * are none of these.
 *
 * Every pattern takes time in proportion to the text: it begins where no key goes on (`boundary`), or with characters
 * that cannot stand inside it.
 */
const keys = [
  // Anthropic, OpenAI, OpenRouter and others that took over `sk-`; names of CSS classes have no digits.
  "sk-[\\w-]{20,}",
  // GitHub: personal, OAuth, user, server and refresh tokens; then the fine-grained ones.
  "gh[opsur]_[A-Za-z0-9]{20,}",
  "github_pat_\\w{20,}",
  // GitLab
  "gl(?:pat|ptt|dt|rt|cbt|ft|soat)-[\\w-]{20,}",
  // Slack
  "xox[abeoprs]-[A-Za-z0-9-]{10,}",
  "xapp-[A-Za-z0-9-]{10,}",
  // AWS: long-lived and temporary access keys. The secret key that belongs to them has no look of its own.
  "A(?:KI|SI)A[A-Z0-9]{16}(?![\\w+/=-])",
  // Google
  "AIza[\\w-]{35}(?![\\w+/=-])",
  // JSON Web Tokens, signed (three parts) or encrypted (five): `eyJ` is `{"` in base64.
  "eyJ[\\w-]{8,}\\.[\\w-]{2,}(?:\\.[\\w-]*){0,3}",
  // npm, Hugging Face, PyPI, SendGrid, Stripe and its webhooks
  "npm_[A-Za-z0-9]{36,}",
  "hf_[A-Za-z0-9]{30,}",
  "pypi-[\\w-]{50,}",
  "SG\\.[\\w-]{16,}\\.[\\w-]{16,}",
  "[rs]k_(?:live|test)_[A-Za-z0-9]{16,}",
  "whsec_[A-Za-z0-9+/=]{24,}",
];

/** Not inside a word; a line break in JSON (`\n`) and an encoded character in a URL (`%20`) are no part of one. */
const boundary = "(?:(?<![\\w-])|(?<=\\\\[bfnrt])|(?<=%[0-9A-Fa-f]{2}))";

/**
 * A private key, with line breaks of any kind. Where its end is missing, what looks like more of it is hidden: the line
 * that it stands in may be JSON, whose end must stay.
 */
const privateKey =
  "-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[A-Za-z0-9+/=\\s:,]|\\\\[nrt]|-(?!-))*(?:-----END [A-Z0-9 ]{0,40}-----)?";

/** What stands between a scheme and the host. A password may hold an `@`: the last one counts. */
const userInfo = ":\\/\\/[^\\s\\/?#\"'<>\\\\]{1,512}@";

/** Credentials as HTTP writes them: their scheme, and what follows. */
const credentials = "\\b(bearer|basic)(?:\\s|%20|\\+){1,4}([\\w.~+\\/-]{8,}={0,2})";

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
  /** Adds where keys, and what is named as one, stand to `found`. Takes time in proportion to the text. */
  find(text: string, found: Spans): void;
}

/**
 * A text is read once, three characters at a time: only where those may begin a key is a pattern tried. Regular
 * expressions over the whole text take ten times as long.
 */
export function createKeyFinder(): KeyFinder {
  const exact = new RegExp(`${boundary}(?:${keys.join("|")})|${privateKey}|${userInfo}`, "y");
  const credential = new RegExp(credentials, "iy");
  const quotes = /\\{0,3}"\s{0,2}:\s{0,2}(\\{0,3}")/y;

  function findExact(text: string, start: number, found: Spans): void {
    exact.lastIndex = start;
    const key = exact.exec(text)?.[0];
    if (key === undefined) return;
    if (key.startsWith("://")) {
      if (isUserInfoSecret(key.slice(3, -1))) found.add(start + 3, start + key.length - 1);
    } else if (!key.startsWith("sk-") || /\d/.test(key)) found.add(start, start + key.length);
  }

  function findCredential(text: string, start: number, found: Spans): void {
    credential.lastIndex = start;
    const [whole = "", scheme, value] = credential.exec(text) ?? [];
    if (scheme === undefined || value === undefined || !isCredential(scheme, value)) return;
    found.add(start + whole.length - value.length, start + whole.length);
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
      let block = 0;
      // Inside what is hidden no names are looked for, so that `token=token=...` is not read again and again.
      let namedUntil = 0;
      for (let at = 0; at < text.length; at += 1) {
        const code = text.charCodeAt(at);
        block = ((block << 7) ^ code) & threeCharacters;
        const kind = beginnings[placeOf(block)] as number;
        if (kind === keyBegins) findExact(text, at - 2, found);
        else if (kind === bearerEnds) findCredential(text, at - 5, found);
        else if (kind === basicEnds) findCredential(text, at - 4, found);
        else if ((code === equals || (code === colon && isQuoteBefore(text, at))) && at >= namedUntil)
          namedUntil = findNamed(text, at, found);
      }
    },
  };
}

const equals = 0x3d;
const threeCharacters = 0x1f_ffff;
const keyBegins = 1;
const bearerEnds = 2;
const basicEnds = 3;

/** What three characters may mean, by a number made of them. Others may have the same number. */
const beginnings = tableOf([
  [
    keyBegins,
    "sk- gho ghp ghs ghu ghr git glp gld glr glc glf gls xox xap AKI ASI AIz eyJ npm hf_ pyp SG. rk_ sk_ whs",
  ],
  [keyBegins, "--- ://"],
  [bearerEnds, "rer RER"],
  [basicEnds, "sic SIC"],
]);

function tableOf(rows: readonly (readonly [number, string])[]): Uint8Array {
  const table = new Uint8Array(4_096);
  for (const [kind, blocks] of rows) {
    for (const block of blocks.split(" ")) {
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
  return code === quote || (isSpace(code) && text.lastIndexOf('"', at) >= at - 3);
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

/** Prose says "Bearer authentication", and a challenge says `Basic realm="..."`. */
function isCredential(scheme: string, credential: string): boolean {
  if (scheme.toLowerCase() === "basic") {
    return /^[^\p{Cc}\uFFFD]*:[^\p{Cc}\uFFFD]*$/u.test(Buffer.from(credential, "base64").toString("utf8"));
  }
  if (/\d/.test(credential)) return true;
  return !credential.endsWith("=") && credential.length >= 16 && /[a-z]/.test(credential) && /.[A-Z]/.test(credential);
}

function endOfPlain(text: string, start: number): number {
  const length = text.slice(start, start + longestPlain).search(/[\s&;,"'<>#\\)]/);
  return length === -1 ? Math.min(text.length, start + longestPlain) : start + length;
}

/** What is longer is no value in a URL or an environment. */
const longestPlain = 4_096;

/** The end of a text in JSON that began with this quote: `"`, or `\"` where the JSON stands in JSON. */
function endOfQuoted(text: string, start: number, quote: string): number {
  const depth = quote.length - 1;
  for (let at = text.indexOf('"', start); at !== -1; at = text.indexOf('"', at + 1)) {
    let escapes = 0;
    while (at - escapes > start && text.charCodeAt(at - escapes - 1) === backslash) escapes += 1;
    // More of them are a quote inside the value, perhaps after backslashes of its own; fewer end what it stands in.
    if (escapes < depth || escapes % (2 * depth + 2) === depth) return at - Math.min(escapes, depth);
  }
  return text.length;
}
