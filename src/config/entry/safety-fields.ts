import { problemAt, type Origin } from "../file/check.ts";
import { isJsonObject } from "../../kernel/text/json-bytes.ts";
import { nearestName } from "../file/near-miss.ts";
import { entryRows, foreignToolFields, meaninglessFields } from "./server-fields.ts";

/** Fields that take something away from clients: read as anything else, they leave open what was meant to be hidden. */
const toolFields = ["tools", ...Object.keys(foreignToolFields)];
/** With the value that takes nothing away. */
const switches: Readonly<Record<string, boolean>> = { enabled: true, disabled: false };

/** What people call a list of tools that are offered, or are not: `denyTools`, `allowed_tools`, `toolBlacklist`. */
const word =
  "allow(?:ed)?|den(?:y|ied)|enabled?|disabled?|includ(?:e|ed)|exclud(?:e|ed)|block(?:ed)?|forbid(?:den)?|hid(?:e|den)|(?:white|black|allow|deny|block)list";
const toolListName = new RegExp(`^(?:(?:${word})tools?|tools?(?:${word}))(?:s|list)?$`);

/**
 * Fields of an entry that nothing reads and that were, by their names, meant to hide tools or the whole server. Each is
 * a problem, which disables the entry: a warning in a log would leave open what somebody believes to be closed.
 */
export function misspelledSafetyFields(entry: unknown, origin: Origin): readonly string[] {
  if (!isJsonObject(entry)) return [];
  const unread = Object.keys(entry).filter(
    (name) => !Object.hasOwn(entryRows, name) && !meaninglessFields.includes(name),
  );
  const problems = unread.flatMap((name) => {
    const meant = meantField(name, entry[name]);
    return meant === undefined ? [] : [problemOf(origin, [name], meant)];
  });
  return [...problems, ...misspelledRules(entry["tools"], origin)];
}

/** The field in whose place `name` seems to stand: a list of tools, or the switch of the server. */
function meantField(name: string, value: unknown): string | undefined {
  const nearest = nearestName(name, Object.keys(entryRows));
  if (nearest !== undefined && Object.hasOwn(switches, nearest))
    return value === switches[nearest] ? undefined : `\`${nearest}\``;
  if (nearest !== undefined && toolFields.includes(nearest)) return `\`${nearest}\``;
  const plain = name.toLowerCase().replace(/[^a-z]/g, "");
  return toolListName.test(plain) ? "`tools.allow` or `tools.deny`" : undefined;
}

/** Our own `tools` has four members. An object under another name is another client's setting of one tool. */
function misspelledRules(tools: unknown, origin: Origin): readonly string[] {
  if (!isJsonObject(tools)) return [];
  return Object.entries(tools)
    .filter(([name, value]) => !["allow", "deny", "rename", "describe"].includes(name) && !isJsonObject(value))
    .map(([name]) => problemOf(origin, ["tools", name], "`allow` or `deny`"));
}

function problemOf({ document, path }: Origin, below: readonly string[], meant: string): string {
  const why = `nothing reads this field, and it seems to be meant to hide something; did you mean ${meant}?`;
  return problemAt({ document, path: [...path, ...below] }, why);
}
