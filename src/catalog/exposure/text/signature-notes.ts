import { isJsonObject, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import { cutAtWord, plainDescription } from "./discover-description.ts";
import { estimateTokens } from "./token-estimate.ts";

/** Parameters that are examined, and tokens that the note on one of them may cost. */
const parameterLimit = 12;
const perParameter = 26;

/**
 * A short note on required parameters whose name does not explain itself: formats, units, identifiers, taken from their
 * descriptions, e.g. `time: ISO 8601; project_id: Git URL or number`. Undefined when there is nothing worth its tokens.
 */
export function requiredNotes(inputSchema: JsonObject, maxTokens: number): string | undefined {
  const properties = inputSchema["properties"];
  const required = inputSchema["required"];
  if (!isJsonObject(properties) || !Array.isArray(required)) return undefined;
  const notes: string[] = [];
  let left = maxTokens;
  for (const name of required.slice(0, parameterLimit)) {
    const property = typeof name === "string" && Object.hasOwn(properties, name) ? properties[name] : undefined;
    const note = isJsonObject(property) && typeof name === "string" ? noteOn(name, property) : undefined;
    const cost = note === undefined ? 0 : estimateTokens(note) + 1;
    if (note === undefined || cost > left) continue;
    notes.push(note);
    left -= cost;
  }
  return notes.length === 0 ? undefined : notes.join("; ");
}

function noteOn(name: string, property: JsonObject): string | undefined {
  const description = property["description"];
  if (typeof description !== "string" || Array.isArray(property["enum"]) || name.length > 60) return undefined;
  const text = plainDescription(description.slice(0, 600)).text;
  const sentences = text.split(/(?<=[.!?])\s+(?=[A-Z(])/).filter((sentence) => telling.test(sentence));
  if (sentences.length === 0) return undefined;
  const short = sentences
    .join(" ")
    .replace(/^(?:the|an?) /i, "")
    .replace(/\.$/, "");
  return `${name}: ${cutAtWord(short, perParameter)}`;
}

/** Marks of a sentence that gives a format, a unit, an example, a source or a choice. */
const telling =
  /e\.g\.|\bi\.e\.|for example|such as|\bformat|\bISO|\bRFC|YYYY|comma|separated|encoded|\bID or\b|base64|regex|glob|\bUU?ID\b|\bURN\b|\bslug\b|milliseconds|\bseconds|\bms\b|minutes|bytes|percent|unix|timestamp|epoch|starts? with|prefix|without|\bmust\b|\bonly\b|either|\bobtained\b|\bfrom (?:the |an? )|absolute|relative|JSON|markdown|HTML|['"`].*['"`]|\d/i;
