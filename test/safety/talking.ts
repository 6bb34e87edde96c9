import { readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const server = fileURLToPath(new URL("talking-server.mjs", import.meta.url));

/** Servers that say what they are told to, in a directory that the gateway under test takes too. */
export interface Talking extends AsyncDisposable {
  readonly directory: string;
  /** An entry of `mcpServers`; each server has its own log. */
  entry(name: string): { readonly command: string; readonly args: readonly string[] };
  /** What all of them say from now on. */
  say(text: string): void;
  /** What reached a server, one JSON text each. */
  reached(name: string): readonly string[];
}

/** Makes the directory; disposing deletes it. */
export async function openTalking(): Promise<Talking> {
  const directory = await mkdtemp(join(tmpdir(), "toolyard-talking-"));
  const said = join(directory, "said");
  const logOf = (name: string): string => join(directory, `log-${name}`);
  writeFileSync(said, "");
  return {
    directory,
    entry(name) {
      writeFileSync(logOf(name), "");
      return { command: process.execPath, args: [server, logOf(name), said] };
    },
    say: (text) => writeFileSync(said, text),
    reached: (name) => readFileSync(logOf(name), "utf8").split("\n").filter(Boolean),
    [Symbol.asyncDispose]: async () => {
      await rm(directory, { recursive: true, force: true });
    },
  };
}
