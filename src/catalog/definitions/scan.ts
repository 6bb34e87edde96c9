import { lookAlikeForm } from "../../config/words/slug.ts";
import type { ToolDefinition } from "../../kernel/call/definitions.ts";
import { scanText, type Finding } from "./scan-rules.ts";

/** Names of tools that are not the server's own. */
export interface Others {
  readonly has: (name: string) => boolean;
}

/** So many characters of a definition are looked through; a larger one waits for a person. */
export const mostScanned = 200_000;
/** Findings that one definition tells of; the first say enough. */
const mostFindings = 20;

/**
 * Looks for what attacks on models are made of, in every text and name of a definition, however deep. A smoke
 * detector: a text can be written around them. Pure; its time grows with the size of the definition alone.
 */
export function scanDefinition(definition: ToolDefinition, others: Others): readonly Finding[] {
  const findings: Finding[] = [];
  let left = mostScanned;
  for (const { text, place, isName } of textsOf(definition)) {
    left -= isPicture(text) ? 0 : text.length;
    const isCut = left < 0;
    const part = isCut ? text.slice(0, Math.max(0, left + text.length)) : text;
    const other = isName ? undefined : otherTool(part, others);
    const found = scanText(part, isName);
    if (found.length > 0 || other !== undefined || isCut) {
      const where = toText(place);
      for (const one of found) findings.push({ ...one, where });
      if (other !== undefined) findings.push({ rule: "other-server", tier: "hold", where, excerpt: other });
      if (isCut) findings.push({ rule: "size", tier: "hold", where, excerpt: "" });
    }
    if (isCut || findings.length >= mostFindings) break;
  }
  if (isMixed(definition.name))
    findings.push({ rule: "lookalike", tier: "hold", where: "name", excerpt: definition.name.slice(0, 120) });
  return findings;
}

/** The reasons to hold a tool, in words. */
export { scanRules, type Finding } from "./scan-rules.ts";

/** Where a text is: a name within another place. Written out only for findings. */
interface Place {
  readonly name: string | number;
  readonly within: Place | undefined;
}

interface PlacedText {
  readonly text: string;
  readonly place: Place | undefined;
  readonly isName: boolean;
}

/** Every text of a value and the name of every member. Not recursive: definitions nest a thousand levels. */
function* textsOf(root: ToolDefinition): Generator<PlacedText> {
  const waiting: { readonly value: unknown; readonly place: Place | undefined }[] = [{ value: root, place: undefined }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value, place } = next;
    if (typeof value === "string") yield { text: value, place, isName: false };
    else if (Array.isArray(value))
      for (const [at, item] of value.entries()) waiting.push({ value: item, place: { name: at, within: place } });
    else if (typeof value === "object" && value !== null)
      for (const [name, member] of Object.entries(value)) {
        const own = { name, within: place };
        if (!usual.has(name)) yield { text: name, place: own, isName: true };
        waiting.push({ value: member, place: own });
      }
  }
}

/** Names of members that JSON Schema and the protocol give. */
const usual: ReadonlySet<string> = new Set(
  (
    "name title description inputSchema outputSchema annotations icons _meta type properties required items enum " +
    "default const anyOf oneOf allOf format minimum maximum minLength maxLength pattern additionalProperties $schema " +
    "readOnlyHint destructiveHint idempotentHint openWorldHint examples"
  ).split(" "),
);

/** The end of a place says most, and a name may be as long as a whole definition. */
function toText(place: Place | undefined): string {
  let text = "";
  for (let at = place; at !== undefined && text.length < longestPlace; at = at.within) {
    const behind = text === "" || text.startsWith("[") ? text : `.${text}`;
    text = (typeof at.name === "number" ? `[${at.name}]` : at.name.slice(0, longestPlace)) + behind;
  }
  return text.length <= longestPlace ? text : `…${text.slice(1 - longestPlace)}`;
}

const longestPlace = 200;

/** An icon: nothing that a model reads. */
function isPicture(text: string): boolean {
  return text.startsWith("data:image/") && /^data:image\/[a-z+.-]{1,20};base64,[A-Za-z0-9+/=]*$/.test(text);
}

/** A compound name of eight characters or more in a text that is a tool of another server. */
function otherTool(text: string, others: Others): string | undefined {
  if (text.length < 8 || !compound.test(text)) return undefined;
  const seen = new Set<string>();
  for (const [word] of text.matchAll(/[A-Za-z0-9_-]{8,120}/g)) {
    if (seen.has(word) || !compound.test(word)) continue;
    if (others.has(word)) return word;
    if (seen.add(word).size === mostNames) return undefined;
  }
  return undefined;
}

/** Names in one text that are looked up among those of all servers. */
const mostNames = 500;
const compound = /[a-zA-Z0-9][_-][a-zA-Z0-9]|[a-z][A-Z]/;

/** Letters of another script among Latin ones, which look like them. */
function isMixed(name: string): boolean {
  const short = name.slice(0, 1_000);
  return /[a-z]/i.test(short) && lookAlikeForm(short) !== short.normalize("NFKC").toLowerCase().normalize("NFC");
}
