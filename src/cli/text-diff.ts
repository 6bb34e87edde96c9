/** How many unchanged lines are shown around a change. */
const around = 2;

/**
 * What changes between two texts, as lines that begin with `-`, `+` or a space, as `diff -u` writes them. Changes that
 * stand apart are shown as one, which is right for texts that have something added in one place.
 */
export function diffLines(before: string, after: string): readonly string[] {
  const old = toLines(before);
  const now = toLines(after);
  if (before === after) return [];
  let start = 0;
  while (start < Math.min(old.length, now.length) && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < Math.min(old.length, now.length) - start && old[old.length - 1 - end] === now[now.length - 1 - end])
    end += 1;
  return [
    ...old.slice(Math.max(0, start - around), start).map((line) => ` ${line}`),
    ...old.slice(start, old.length - end).map((line) => `-${line}`),
    ...now.slice(start, now.length - end).map((line) => `+${line}`),
    ...old.slice(old.length - end, old.length - end + around).map((line) => ` ${line}`),
  ];
}

function toLines(text: string): readonly string[] {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}
