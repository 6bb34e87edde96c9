import { mkdtemp, mkdir, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { AnsweringClient } from "../protocol/clients.ts";

const serverFile = fileURLToPath(
  new URL("../../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js", import.meta.url),
);

/**
 * Folders with one file each, `inside.txt`, whose text is the folder's name; and the real filesystem server,
 * configured for `configured`.
 */
export interface Folders extends AsyncDisposable {
  readonly directory: string;
  path(folder: string): string;
  file(folder: string): string;
  uri(folder: string): string;
  /** The server's entry. */
  readonly server: { readonly command: string; readonly args: readonly string[] };
  /** Its processes that are alive, by their command line. */
  pids(): Promise<readonly number[]>;
}

export async function makeFolders(...names: readonly string[]): Promise<Folders> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "toolyard-roots-")));
  const path = (folder: string): string => join(directory, folder);
  for (const name of ["configured", ...names]) {
    await mkdir(path(name));
    await writeFile(join(path(name), "inside.txt"), name);
  }
  return {
    directory,
    path,
    file: (folder) => join(path(folder), "inside.txt"),
    uri: (folder) => pathToFileURL(path(folder)).href,
    server: { command: process.execPath, args: [serverFile, path("configured")] },
    async pids() {
      const all = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
      const lines = await Promise.all(all.map(async (pid) => [Number(pid), await commandOf(pid)] as const));
      return lines.flatMap(([pid, line]) =>
        line === `${process.execPath}\0${serverFile}\0${path("configured")}\0` ? [pid] : [],
      );
    },
    async [Symbol.asyncDispose]() {
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function commandOf(pid: string): Promise<string> {
  return await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
}

/** Reads a file as the client sees the server: the text, or what the refusal says. */
export async function readFileAs(
  { client }: AnsweringClient,
  file: string,
  tool = "fs:read_text_file",
): Promise<string> {
  const params = tool.includes(":")
    ? { name: "execute_mcp_tool", arguments: { tool_path: tool, arguments: { path: file } } }
    : { name: tool, arguments: { path: file } };
  const result = (await client.callTool(params)) as { content: readonly { text: string }[] };
  return result.content[0]?.text ?? "";
}
