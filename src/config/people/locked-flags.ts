import type { TierField } from "./tier-fields.ts";

/**
 * The path of a field whose flag is among `words` although their author may not set it; undefined where there is none.
 * Of two arguments with one flag most programs take the last, so that a word that is appended would open a
 * locked field. Programs differ in what they take for a flag: shortened (argparse), with one dash (Go), in camel case
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
  // A word may hold the value as well, after any of the marks that parsers take: `--a=b`, `--a:b`, `--a b`, `--a[]=b`.
  const option = toDashes(word.trim()).split(/[=:[+\s]/, 1)[0] ?? "";
  if (!option.startsWith("-")) return option.toLowerCase() === flag.toLowerCase();
  const isCluster = /^-[^-]$/.test(flag) && !option.startsWith("--");
  if (isCluster && option.includes(flag.slice(1))) return true;
  const [given, known] = [bare(option), bare(flag)];
  if (given === "") return false;
  return known.startsWith(given) || (/^no./.test(given) && known.startsWith(given.slice(2)));
}

/** As it would be with dashes: programs for Windows take `/a`, and some what editors make of two dashes. */
function toDashes(word: string): string {
  return word.replace(/^[\p{Pd}\u2212]+/u, (dashes) => "-".repeat(dashes.length)).replace(/^\/(?=[^/]+$)/, "-");
}

/** Without dashes and case: `--dry-run`, `--dry_run`, `--dry.run`, `-dryRun` and `--DRY-RUN` are one. */
function bare(option: string): string {
  return option.replaceAll(/[-_.]/g, "").toLowerCase();
}
