import type { TierField } from "./tier-fields.ts";

/**
 * The path of a field whose flag stands among `words` although it is not for whoever gives them; undefined where there
 * is none. Of two arguments with one flag most programs take the last, so that a word that is appended would open what
 * is locked. Programs differ in what they take for a flag: shortened (argparse), with one dash (Go), in camel case
 * (yargs), in one word with other letters or the value (getopt). All of it is refused, at the price of some options
 * that only begin alike.
 */
export function findForeignFlag(
  fields: readonly TierField[],
  words: readonly string[],
  isTheirs: (path: string) => boolean,
): string | undefined {
  return fields.find(
    ({ path, flag }) =>
      flag !== undefined && flag !== "" && !isTheirs(path) && words.some((word) => meansFlag(word, flag)),
  )?.path;
}

function meansFlag(word: string, flag: string): boolean {
  const option = word.split("=", 1)[0] ?? "";
  if (!word.startsWith("-")) return option.toLowerCase() === flag.toLowerCase();
  const isCluster = /^-[^-]$/.test(flag) && !word.startsWith("--");
  if (isCluster && option.includes(flag.slice(1))) return true;
  const [given, known] = [bare(option), bare(flag)];
  return given !== "" && (known.startsWith(given) || given === `no${known}`);
}

/** Without dashes and case: `--dry-run`, `--dry_run`, `-dryRun` and `--DRY-RUN` are one. */
function bare(option: string): string {
  return option.replaceAll(/[-_]/g, "").toLowerCase();
}
