/**
 * The URL of the built entry file of a worker thread or process: it is in the folder of the built file that asks.
 * Node 20 cannot run TypeScript, so callers that run from `src/` (tests) also get the built file, and the project
 * must be built first.
 *
 * @param importMetaUrl `import.meta.url` of the calling file
 * @param name the entry's name without extension
 */
export function workerUrl(importMetaUrl: string, name: string): URL {
  const built = new URL(`./${name}.js`, importMetaUrl);
  if (!importMetaUrl.endsWith(".ts")) return built;
  const from = built.pathname.lastIndexOf("/src/");
  if (from < 0) throw new Error(`no src folder in ${importMetaUrl}`);
  built.pathname = `${built.pathname.slice(0, from)}/dist/cli/${name}.js`;
  return built;
}
