import { spawn } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "jsonc-parser";
import type { CommandResult } from "../../harness/command.ts";
import { mainFile } from "../../harness/gateway.ts";

const modules = fileURLToPath(new URL("../../../node_modules/", import.meta.url));
/** Real servers, as they are installed here. */
export const realServers = {
  everything: join(modules, "@modelcontextprotocol/server-everything/dist/index.js"),
  memory: join(modules, "@modelcontextprotocol/server-memory/dist/index.js"),
};

/** A home of its own with a configuration, in which commands are run. */
export interface Shop extends AsyncDisposable {
  readonly directory: string;
  readonly file: string;
  readonly environment: Record<string, string>;
  /** Runs the built command as a user would, with this configuration. `input` is what it reads. */
  run(args: readonly string[], env?: Readonly<Record<string, string>>, input?: string): Promise<CommandResult>;
  text(): Promise<string>;
  config(): Promise<{ readonly mcpServers: Record<string, Record<string, unknown>> }>;
  /** Puts a program into PATH, as a shell script. */
  addProgram(name: string, script: string): Promise<void>;
}

/** Without a text there is no file yet. */
export async function openShop(text?: string): Promise<Shop> {
  const directory = await mkdtemp(join(tmpdir(), "toolyard-shop-"));
  const file = join(directory, "toolyard.json");
  const programs = join(directory, "bin");
  await mkdir(programs);
  if (text !== undefined) await writeFile(file, text);
  const environment = {
    HOME: directory,
    XDG_CONFIG_HOME: join(directory, "config"),
    TOOLYARD_DATA_DIR: join(directory, "data"),
    TOOLYARD_CONFIG: file,
    PATH: `${programs}${delimiter}${process.env["PATH"] ?? ""}`,
  };
  return {
    directory,
    file,
    environment,
    async run(args, env = {}, input = "") {
      const child = spawn(process.execPath, [mainFile, ...args], {
        cwd: directory,
        stdio: ["pipe", "pipe", "pipe"],
        env: { ...process.env, ...environment, ...env },
      });
      // It may end without having read it.
      child.stdin.on("error", () => undefined).end(input);
      let [stdout, stderr] = ["", ""];
      child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
      child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
      return await new Promise((resolve) => child.once("close", (code) => resolve({ code, stdout, stderr })));
    },
    text: async () => await readFile(file, "utf8"),
    config: async () => parse(await readFile(file, "utf8")) as never,
    async addProgram(name, script) {
      const path = join(programs, name);
      await writeFile(path, `#!/bin/sh\n${script}\n`);
      await chmod(path, 0o755);
    },
    [Symbol.asyncDispose]: async () => await rm(directory, { recursive: true, force: true }),
  };
}
