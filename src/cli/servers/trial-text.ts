import type { ServerTrial } from "../../app/fronts/server-trial.ts";
import { countText } from "../../kernel/text/count-text.ts";
import { clipText, columnsOf } from "../terminal/fitted-text.ts";
import { plainText } from "../terminal/plain-text.ts";

const mostTools = 12;
const mostLines = 10;
const lineCharacters = 110;
const nameWidth = 28;

/** What came of a trial, for people: the tools, or why there are none. */
export function toTrialText(trial: ServerTrial): readonly string[] {
  const { key, word, isUsable, tools, tokens, name, output } = trial;
  if (isUsable) {
    const what = name === null || name === "" ? "" : ` as ${plainText(name)}`;
    const count = `${countText(tools.length)} tool${tools.length === 1 ? "" : "s"}`;
    return [
      `${plainText(key)}: it answers${what}, ${count}${tokens === 0 ? "" : `, ${countText(tokens)} tokens`}`,
      ...tools.slice(0, mostTools).map(({ name: tool, description }) => toToolLine(tool, description)),
      ...(tools.length > mostTools ? [`  and ${countText(tools.length - mostTools)} more`] : []),
    ];
  }
  const what = toAdvice(trial);
  const lines = output.filter((line) => line.trim() !== "");
  return [
    `${plainText(key)}: ${word}: ${clipText(oneLine(trial.reason), 400)}`,
    ...(what === undefined ? [] : [`  ${what}`]),
    ...(lines.length === 0 ? [] : ["  last output:"]),
    ...lines.slice(-mostLines).map((line) => `    ${clipText(plainText(line), lineCharacters)}`),
  ];
}

/** What to do about it. A command that repairs it goes before what the failure says in general. */
export function toAdvice({ status, hint, next, key }: ServerTrial): string | undefined {
  if (status === "requires_reauth") return `Run \`${next?.command ?? `toolyard login ${key}`}\`.`;
  return hint ?? (status === "awaiting_user_config" ? next?.text : undefined);
}

function toToolLine(name: string, description: string): string {
  const columns = Math.min(lineCharacters, columnsOf(process.stdout));
  return clipText(`  ${plainText(name).padEnd(nameWidth)} ${oneLine(description)}`, columns).trimEnd();
}

function oneLine(text: string): string {
  return plainText(text).replace(/\s+/g, " ").trim();
}
