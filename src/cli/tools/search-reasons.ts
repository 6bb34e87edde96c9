import type { Explanation, FoundWord, WordShare } from "../../catalog/search/explain/explanation.ts";
import type { FieldName } from "../../catalog/search/language/fields.ts";

/** Less than this of a score is not worth a word. */
const leastShare = 0.005;
const widestLine = 110;
/** Before each line. */
const indent = 4;
/** Fields that are named for one word. */
const mostFields = 2;

const fieldWords: Readonly<Record<FieldName, string>> = {
  name: "name",
  title: "title",
  server: "server",
  description: "description",
  about: "server's text",
  parameters: "parameter",
  parameterTexts: "parameter's text",
  enums: "enum",
  joined: "name",
  phrases: "phrase",
};

/** Why a tool was found, as lines of reasons with their shares of the score, the largest first. */
export function toReasons(explanation: Explanation, columns = Number.POSITIVE_INFINITY): readonly string[] {
  const { words, phrases, coverage, intent, serverFit, learned } = explanation;
  const reasons: { readonly share: number; readonly text: string }[] = [
    ...words.map((word) => ({ share: word.share, text: toWordText(word) })),
    ...phrases.map(({ asked, where, share }) => ({
      share,
      text: `"${asked}" side by side (${where === "name" ? "name" : "text"})`,
    })),
    { share: coverage.share, text: `${toPercent(coverage.ofName)} of its name asked for` },
    { share: serverFit.share, text: "server fit" },
    { share: learned.share, text: toLearnedText(learned.likeness) },
  ];
  const told = reasons
    .filter(({ share }) => share >= leastShare)
    .toSorted((one, other) => other.share - one.share)
    .map(({ text, share }) => `${text} ${toPercent(share)}`);
  return wrap([...told, ...toIntentText(intent)], Math.min(columns - indent, widestLine));
}

function toWordText({ asked, found }: WordShare): string {
  const [best] = found;
  if (best === undefined) return asked;
  return `${best.word === asked ? asked : `${asked}→${best.word}`} (${[...toRelation(best), ...toFields(best)].join(", ")})`;
}

function toRelation({ relation }: FoundWord): readonly string[] {
  return relation === "word" ? [] : [relation];
}

function toFields({ fields }: FoundWord): readonly string[] {
  return [...new Set(fields.map((name) => fieldWords[name]))].slice(0, mostFields);
}

/** Only where it changes something: a tool that does what was asked loses nothing. */
function toIntentText({ asked, does, share }: Explanation["intent"]): readonly string[] {
  if (asked.length === 0) return [];
  if (does === null || share === 0) return [`intent: ${asked.join(", ")}`];
  return [`intent: ${asked.join(", ")}, but it ${deeds[does]} ${toPercent(share)}`];
}

const deeds = { read: "reads", create: "creates", update: "changes", delete: "deletes" } as const;

function toPercent(share: number): string {
  return `${share < 0 ? "-" : ""}${Math.round(Math.abs(share) * 100)} %`;
}

function wrap(reasons: readonly string[], columns: number): readonly string[] {
  const lines: string[] = [];
  for (const reason of reasons) {
    const last = lines.at(-1);
    if (last === undefined || last.length + reason.length + 3 > columns) lines.push(reason);
    else lines[lines.length - 1] = `${last}   ${reason}`;
  }
  return lines;
}

function toLearnedText(likeness: number): string {
  return likeness > 0
    ? `learned (${toPercent(likeness)} like an earlier question)`
    : "learned (by words of earlier questions)";
}
