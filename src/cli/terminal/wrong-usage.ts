/** Says how a command is used, and returns the exit code for wrong usage. */
export function misused(usage: string): number {
  process.stderr.write(`toolyard: \`toolyard ${usage}\`\n`);
  return wrongUsage;
}

const wrongUsage = 2;

/** Tells that a command was typed wrongly. Resolves to the exit code. */
export function refuseUsage(message: string, usage: string): number {
  process.stderr.write(`toolyard: ${message}\n  ${usage}\n`);
  return wrongUsage;
}
