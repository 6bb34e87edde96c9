import { escapeHidden, visibleText } from "../exposure/text/visible-text.ts";

/** Something suspicious in a definition. `hold`: a person looks at it first. `note`: it is told of. */
export interface Finding {
  readonly rule: ScanRule;
  readonly tier: "hold" | "note";
  /** Where it is: `description`, `inputSchema.properties.path`. */
  readonly where: string;
  /** The words, with hidden characters written as escapes. Empty where there are none to show. */
  readonly excerpt: string;
}

/** The rules, in words that follow the name of a tool and a colon. */
export const scanRules = {
  hidden: "it has invisible characters",
  override: "it tells a model to ignore its instructions",
  conceal: "it tells a model to keep something from its user",
  secrets: "it wants a file with secrets to be read or sent",
  conversation: "it wants the conversation to be sent",
  command: "it has a command that is run by a shell",
  "other-server": "it names a tool of another server",
  lookalike: "its name looks like another one",
  size: "it is too large to be looked through",
  order: "it wants to be used before others",
  markup: "it has a tag as instructions of a system have it",
  parameter: "a parameter asks for what a model knows of the conversation",
} as const;

export type ScanRule = keyof typeof scanRules;

/** What one rule finds in a text: where the words begin and end. */
type Found = readonly [start: number, end: number];

/**
 * Runs every rule on one text, which may be the name of a member or parameter. In time that grows with its length
 * alone.
 */
export function scanText(text: string, isName: boolean): readonly Omit<Finding, "where">[] {
  const findings: Omit<Finding, "where">[] = [];
  const note = (rule: ScanRule, tier: Finding["tier"], [start, end]: Found): void => {
    const excerpt = escapeHidden(text.slice(start, Math.min(end, start + longestExcerpt)));
    findings.push({ rule, tier: tier === "hold" && isQuoted(text, start, end) ? "note" : tier, excerpt });
  };
  if (hasHidden(text)) findings.push({ rule: "hidden", tier: "hold", excerpt: "" });
  if (isName && asksForConversation.has(plainName(text))) note("parameter", "note", [0, text.length]);
  // Most texts have none of the words that any rule begins with.
  if (!mayMatter.test(text)) return findings;
  const words = toWords(text);
  for (const { rule, tier, pattern } of wordRules) {
    const found = words.find(pattern);
    if (found !== undefined) note(rule, tier, found);
  }
  for (const { rule, at, before, width } of nearRules) {
    const found = findNear(text, at, isName ? undefined : before, width);
    if (found !== undefined) note(rule, "hold", found);
  }
  const encoded = findEncoded(text);
  if (encoded !== undefined) note("command", "hold", encoded);
  const tag = systemTag.exec(text);
  if (tag !== null) note("markup", "note", [tag.index, tag.index + tag[0].length]);
  return findings;
}

const longestExcerpt = 120;

/** Invisible characters, and those that no standard gives a shape. */
function hasHidden(text: string): boolean {
  return !plain.test(text) && (visibleText(text).flagged || privateUse.test(text));
}
const plain = /^[\n\r\t\x20-\x7e]*$/;
const privateUse = /\p{Co}/u;

/** Some word of each rule, and letters that may be another spelling of one. */
const mayMatter = new RegExp(
  [
    "ignor|disregard|forget|overrid|bypass|tell|inform|mention|reveal|disclos|secret|keep|hide|conceal|conversation",
    "chat|transcript|prompt|before|always|instead|instruct|important|<|\\||id_|\\.ssh|\\.aws|\\.gnupg|\\.netrc",
    "\\.npmrc|\\.pypirc|\\.kube|\\.docker|\\.git-cred|mcp\\.json|shadow|passwd|[^\\n\\r\\t -~]|[a-z0-9+/]{40}",
  ].join("|"),
  "i",
);

const asksForConversation: ReadonlySet<string> = new Set(
  "sidenote conversationhistory chathistory messagehistory fullconversation fullcontext systemprompt".split(" "),
);

function plainName(name: string): string {
  return name
    .slice(0, 80)
    .toLowerCase()
    .replace(/[^a-z]/g, "");
}

interface WordRule {
  readonly rule: ScanRule;
  readonly tier: Finding["tier"];
  /** Of words in lower case with one space before and behind each. Every repetition has a limit. */
  readonly pattern: RegExp;
}

const some = (most: number): string => `(?:[a-z0-9]{1,20} ){0,${most}}`;
const the = "(?:(?:the|this|that|our|your|my|all|of|entire|full|whole|complete|current) ){0,4}";

const wordRules: readonly WordRule[] = [
  {
    rule: "override",
    tier: "hold",
    pattern: new RegExp(
      ` (?:ignore|disregard|forget|override|bypass) ${some(3)}` +
        `(?:previous|prior|preceding|earlier|above|system|your|developer|safety|other) ${some(2)}` +
        "(?:instructions?|prompts?|guidelines?|guardrails?|directives?) | " +
        "(?:ignore|disregard|forget) (?:all|any) (?:of )?(?:the |your )?(?:instructions|prompts) ",
    ),
  },
  {
    rule: "conceal",
    tier: "hold",
    pattern: new RegExp(
      ` (?:do not|don t|dont|never|must not|mustn t|without) ${some(2)}` +
        "(?:(?:tell|telling|inform|informing) (?:to )?(?:the |your |any |this )?(?:user|human|person|customer)" +
        `|(?:mention|mentioning|reveal|revealing|disclose|disclosing) ${some(4)}to (?:the |your |any )?(?:user|human)) ` +
        `| (?:keep|hide|conceal) ${some(4)}(?:secret |hidden )?from (?:the |your )?(?:user|human) `,
    ),
  },
  {
    rule: "conversation",
    tier: "hold",
    pattern: new RegExp(
      ` (?:send|forward|post|upload|transmit|email|copy|include|pass|append|attach|put|paste) ${the}` +
        "(?:(?:conversation|chat|message) (?:history|transcript|log|context|so far)" +
        "|system prompt|previous messages|conversation (?:to|into|in|as) (?:http|https|this|the) ) ?",
    ),
  },
  {
    rule: "order",
    tier: "note",
    pattern: new RegExp(
      ` before ${some(3)}(?:any|all|every|each) other (?:tool|tools|function|call) ` +
        "| always (?:use|call|run|invoke) this (?:tool|function)? ?(?:first|before|instead) ",
    ),
  },
];

interface NearRule {
  readonly rule: ScanRule;
  readonly at: RegExp;
  /** Words before it, within so many characters. In a name, none is needed. */
  readonly before: RegExp;
  readonly width: number;
}

const nearRules: readonly NearRule[] = [
  {
    rule: "secrets",
    at: /\bid_(?:rsa|ed25519|ecdsa|dsa)\b|\.ssh\/(?:id|key|config)|~\/\.ssh\b|\.aws\/credentials|\.gnupg\b|\/etc\/(?:shadow|passwd)\b|\.netrc\b|\.pypirc\b|\.npmrc\b|\.kube\/config|\.docker\/config\.json|\.git-credentials|(?:\.cursor|\.vscode|claude)\/[a-z_]{0,20}mcp\.json/gi,
    before:
      /\b(?:read|open|cat|load|fetch|include|send|pass|upload|copy|attach|provide|paste|insert|put|access|exfiltrate|contents? of)\b/i,
    width: 120,
  },
  {
    rule: "command",
    at: /\|[ \t]{0,5}(?:sudo[ \t]{1,5})?(?:ba|z|da|k)?sh\b|\|[ \t]{0,5}(?:iex|python3?|node|perl)\b/gi,
    before: /\b(?:curl|wget|iwr|irm|invoke-webrequest|base64)\b/i,
    width: 300,
  },
];

/** Of what a text may repeat to hide behind: so many are a finding themselves. */
const mostLooked = 100;

function findNear(text: string, at: RegExp, before: RegExp | undefined, width: number): Found | undefined {
  let looked = 0;
  for (const { index, 0: match } of text.matchAll(at)) {
    looked += 1;
    const from = Math.max(0, index - width);
    const start = before === undefined ? 0 : text.slice(from, index).search(before);
    if (start !== -1) return [from + start, index + match.length];
    if (looked > mostLooked) return [index, index + match.length];
  }
  return undefined;
}

const encodedRun = /[A-Za-z0-9+/]{40,}/g;
const shellWords =
  /\b(?:curl|wget|powershell|invoke-webrequest|bash|nc|netcat|chmod|eval|exec)[ \t(]|\brm -rf|\/bin\/(?:ba)?sh\b|\bsh -c\b/i;
/** Of one run; a command is at its beginning or nowhere of interest. */
const mostDecoded = 4_096;

/** Base64 and hexadecimal digits that decode to a command. */
function findEncoded(text: string): Found | undefined {
  for (const { index, 0: run } of text.matchAll(encodedRun)) {
    const part = run.slice(0, mostDecoded);
    const forms = /^[0-9a-f]+$/i.test(part) ? (["hex", "base64"] as const) : (["base64"] as const);
    for (const form of forms)
      if (shellWords.test(Buffer.from(part, form).toString("latin1"))) return [index, index + part.length];
  }
  return undefined;
}

const systemTag = /<\/?(?:important|system|instructions?|secret|admin|hidden)>/i;

/** Words of a text in lower case, one space around each, and where a match of them is in the text. */
interface Words {
  find(pattern: RegExp): Found | undefined;
}

function toWords(text: string): Words {
  const joined = joinWords(text);
  return {
    find(pattern) {
      const match = pattern.exec(joined);
      if (match === null) return undefined;
      const places = placesOf(text);
      const before = countSpaces(joined.slice(0, match.index + 1)) - 1;
      return [places[before] ?? 0, places[before + countSpaces(match[0].trimEnd())] ?? text.length];
    },
  };
}

function joinWords(text: string): string {
  const lower = text.normalize("NFKC").toLowerCase();
  return ` ${plain.test(lower) ? lower.replace(/[^a-z0-9]+/g, " ") : lower.replace(/[^\p{L}\p{N}]+/gu, " ")} `.replace(
    /^ {2}/,
    " ",
  );
}

/** Where each word begins. Worked out for findings alone. */
function placesOf(text: string): readonly number[] {
  return [...text.matchAll(/[\p{L}\p{N}]+/gu)].map(({ index }) => index);
}

function countSpaces(text: string): number {
  let count = 0;
  for (let at = text.indexOf(" "); at !== -1; at = text.indexOf(" ", at + 1)) count += 1;
  return count;
}

const openQuote = /(?:["“”«`]|(?:^|[\s(])['‘])[^"“”«»`\n]{0,60}$/;
const closeQuote = /^[^"“”«`\n]{0,80}["”»`'’]/;
const introduced =
  /\b(?:detects?|detecting|detection|finds?|flags?|blocks?|prevents?|scans? for|looks? for|examples?|e\.g\.?|such as|for instance)\b/i;

const sentenceEnd = /(?<!\be\.g)[.!?]\s|\n/;

/** A tool that looks for attacks quotes them, or names them in the same sentence. */
function isQuoted(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - 80), start);
  return (
    introduced.test(before.split(sentenceEnd).at(-1) ?? "") ||
    (openQuote.test(before) && closeQuote.test(text.slice(Math.max(start, end - 2), end + 80)))
  );
}
