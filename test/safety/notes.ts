import { readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const itsServer = fileURLToPath(new URL("notes-server.mjs", import.meta.url));

/** The server with notes in a directory of its own, which the gateway under test takes too. */
export interface Notes extends AsyncDisposable {
  readonly directory: string;
  /** The server's entry in `mcpServers`. */
  readonly entry: { readonly command: string; readonly args: readonly string[] };
  /** Each call that ran, as `["tool",{…}]`, in the order in which they ran. */
  calls(): readonly string[];
}

/** Makes the directory; disposing deletes it. A bundle that stands elsewhere says where the server's file is. */
export async function openNotes(server = itsServer): Promise<Notes> {
  const directory = await mkdtemp(join(tmpdir(), "toolyard-approvals-"));
  const log = join(directory, "ran");
  writeFileSync(log, "");
  return {
    directory,
    entry: { command: process.execPath, args: [server, log] },
    calls: () => readFileSync(log, "utf8").split("\n").filter(Boolean),
    [Symbol.asyncDispose]: async () => {
      await rm(directory, { recursive: true, force: true });
    },
  };
}
