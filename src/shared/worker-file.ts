/**
 * Where a worker thread's entry file lies: beside the caller, as built. Node 20 cannot run TypeScript, so that a caller that runs
 * from `src/` (tests) gets the built file of the same name in `dist/`; build first.
 *
 * @param importMetaUrl `import.meta.url` of the file that starts the worker
 * @param name the entry's name without extension, in the caller's folder
 */
export function workerUrl(importMetaUrl: string, name: string): URL {
  const built = new URL(`./${name}.js`, importMetaUrl);
  if (!importMetaUrl.endsWith(".ts")) return built;
  const from = built.pathname.lastIndexOf("/src/");
  if (from < 0) throw new Error(`no src folder in ${importMetaUrl}`);
  built.pathname = `${built.pathname.slice(0, from)}/dist/${built.pathname.slice(from + "/src/".length)}`;
  return built;
}
