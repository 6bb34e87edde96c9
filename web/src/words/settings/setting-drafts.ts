import { findNodeAtLocation, getNodeValue, parseTree } from "jsonc-parser";

/** What a text changes of a file, by the path of the setting. Undefined: taken out of the file. */
export type Drafts = Readonly<Record<string, { readonly value: unknown }>>;

/** Which of these settings one text has otherwise than the other, however they are written. */
export function settingDrafts(before: string, now: string, paths: readonly string[]): Drafts {
  if (before === now) return {};
  const old = readerOf(before);
  const given = readerOf(now);
  return Object.fromEntries(
    paths.flatMap((path) => {
      const value = given(path);
      return JSON.stringify(value) === JSON.stringify(old(path)) ? [] : [[path, { value }] as const];
    }),
  );
}

function readerOf(text: string): (path: string) => unknown {
  const root = parseTree(text, [], { allowTrailingComma: true });
  return (path) => {
    const node = root === undefined ? undefined : findNodeAtLocation(root, path.split("."));
    return node === undefined ? undefined : (getNodeValue(node) as unknown);
  };
}
