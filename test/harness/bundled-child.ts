import { spawn, type ChildProcess } from "node:child_process";
import { mkdir, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** A process of its own that runs one TypeScript file, which Node 20 cannot do by itself. */
export interface BundledChild extends AsyncDisposable {
  /** Its stderr is ours. */
  start(...args: readonly string[]): ChildProcess;
  /** With another Node, and its stderr to be read. */
  startWith(node: string, ...args: readonly string[]): ChildProcess;
}

/** @param file below the project's folder */
export async function bundleChild(file: string): Promise<BundledChild> {
  await mkdir(`${root}.cache`, { recursive: true });
  // Inside the project, because it looks for packages from there.
  const outfile = `${root}.cache/child-${process.pid}-${Date.now()}.mjs`;
  await build({
    absWorkingDir: root,
    entryPoints: [file],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    logLevel: "warning",
  });
  return {
    start: (...args) => spawn(process.execPath, [outfile, ...args], { stdio: ["ignore", "pipe", "inherit"] }),
    startWith: (node, ...args) => spawn(node, [outfile, ...args], { stdio: ["ignore", "pipe", "pipe"] }),
    [Symbol.asyncDispose]: async () => await rm(outfile, { force: true }),
  };
}
