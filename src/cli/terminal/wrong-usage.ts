import { printText } from "./fitted-text.ts";

/** Says how a command is used, and returns the exit code for wrong usage. */
export function misused(usage: string): number {
  printText(process.stderr, `toolyard: \`toolyard ${usage}\``);
  return wrongUsage;
}

const wrongUsage = 2;

/** Tells that a command was typed wrongly. Resolves to the exit code. */
export function refuseUsage(message: string, usage: string): number {
  printText(process.stderr, `toolyard: ${message}\n  ${usage}`);
  return wrongUsage;
}
