import type { ImportedEntry } from "../connect/client-entry.ts";

/**
 * A text that two entries share when they are the same server: the same program with the same arguments and variables,
 * or the same address with the same headers. Which of its tools are offered, and where its process runs, does not
 * count.
 */
export function serverIdentity({ command, args, env, envFile, type, url, headers }: ImportedEntry): string {
  const parts =
    url === undefined
      ? ["", command, args ?? [], sorted(env, false), envFile ?? null]
      : [type ?? "http", url.replace(/\/$/, ""), sorted(headers, true)];
  // `${env:TOKEN}` is `${TOKEN}`.
  return JSON.stringify(parts).replaceAll("${env:", "${");
}

function sorted(
  members: Readonly<Record<string, string>> | undefined,
  isCaseless: boolean,
): readonly (readonly [string, string])[] {
  return Object.entries(members ?? {})
    .map(([name, value]) => [isCaseless ? name.toLowerCase() : name, value] as const)
    .toSorted(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
}
