import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const server = fileURLToPath(new URL("defined-server.mjs", import.meta.url));

/** A server whose definitions a test says, in a directory that its gateway may have too. */
export interface Defined extends AsyncDisposable {
  readonly directory: string;
  readonly entry: { readonly command: string; readonly args: readonly string[] };
  /** Makes it list these tools and prompts from now on, which it announces; its instructions it says when it starts. */
  list(tools: readonly object[], more?: { readonly prompts?: readonly object[]; readonly instructions?: string }): void;
  /** How often one of its tools ran; with `listed`, how often its list was read. */
  ran(tool: string): number;
}

/** Lists a tool `plain` at first. */
export async function openDefined(): Promise<Defined> {
  const directory = await mkdtemp(join(tmpdir(), "toolyard-definitions-"));
  const file = join(directory, "list.json");
  const log = join(directory, "ran");
  const list: Defined["list"] = (tools, more) => {
    const whole = tools.map((tool) => ({ inputSchema: { type: "object" }, ...tool }));
    // As a whole, so that the server reads either list.
    writeFileSync(`${file}.new`, JSON.stringify({ tools: whole, ...more }));
    renameSync(`${file}.new`, file);
  };
  list([{ name: "plain" }]);
  writeFileSync(log, "");
  return {
    directory,
    entry: { command: process.execPath, args: [server, file, log] },
    list,
    ran: (tool) =>
      readFileSync(log, "utf8")
        .split("\n")
        .filter((line) => line === tool).length,
    [Symbol.asyncDispose]: async () => await rm(directory, { recursive: true, force: true }),
  };
}

/** Starts it by a program of another name: another server to the gateway. */
export function renamed({ directory, entry }: Defined, name: string): Defined["entry"] {
  const command = join(directory, name);
  writeFileSync(command, `#!/bin/sh\nexec "${entry.command}" "$@"\n`, { mode: 0o755 });
  return { command, args: entry.args };
}
