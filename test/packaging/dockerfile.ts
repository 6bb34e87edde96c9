import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { cp, mkdir, readdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** The stages of a Dockerfile: each begins with its FROM. */
export function readStages(path: string): readonly (readonly Instruction[])[] {
  const lines = readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => !line.startsWith("#"))
    .join("\n")
    .replaceAll("\\\n", " ")
    .split("\n")
    .filter((line) => line.trim() !== "");
  const stages: Instruction[][] = [];
  for (const line of lines) {
    const [, name = "", text = ""] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    if (name === "") throw new Error(`this is no instruction: ${line}`);
    if (name === "FROM") stages.push([]);
    stages.at(-1)?.push({ name, text: text.replaceAll(/\s+/g, " ").trim() });
  }
  return stages;
}

/** What a container of the last stage is run with. */
export interface ImageConfig {
  readonly command: readonly string[];
  readonly health: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly user: string;
  readonly directory: string;
}

export function readImage(stages: ReturnType<typeof readStages>): ImageConfig {
  const last = stages.at(-1) ?? [];
  const textOf = (name: string): string => last.findLast((one) => one.name === name)?.text ?? "";
  const listOf = (text: string): readonly string[] => JSON.parse(text.slice(text.indexOf("["))) as readonly string[];
  const pairs = last.filter(({ name }) => name === "ENV").flatMap(({ text }) => text.split(" "));
  return {
    command: [...listOf(textOf("ENTRYPOINT")), ...listOf(textOf("CMD"))],
    health: listOf(textOf("HEALTHCHECK")),
    environment: Object.fromEntries(pairs.map((pair) => [pair.split("=", 1)[0], pair.slice(pair.indexOf("=") + 1)])),
    user: textOf("USER"),
    directory: textOf("WORKDIR"),
  };
}

export interface BuildOptions {
  readonly stages: ReturnType<typeof readStages>;
  /** The folder that stands for the root of every stage: no two of them use the same path for different things. */
  readonly home: string;
  /** The repository: what `COPY` copies from, without what .dockerignore names. */
  readonly context: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Absolute paths of the image, in the folder that stands for its root. Those of programs stay. */
export function placeIn(home: string, text: string): string {
  return text.replaceAll(/(?<![\w.])\/(?:app|build|config|data|out|tmp)(?=[/ ]|$)/g, (found) => home + found);
}

/**
 * Does what `docker build` does, step by step, without a container: WORKDIR, COPY and RUN. Only `npm ci` is replaced,
 * by the packages that are installed here.
 */
export async function build({ stages, home, context, environment }: BuildOptions): Promise<void> {
  for (const stage of stages) {
    let directory = home;
    for (const { name, text } of stage) {
      const placed = placeIn(home, text);
      if (name === "WORKDIR") await mkdir((directory = placed), { recursive: true });
      else if (name === "COPY") await copy(placed, directory, context);
      else if (name !== "RUN") continue;
      else if (text.startsWith("npm ci "))
        await symlink(join(context, "node_modules"), join(directory, "node_modules"));
      else await run("sh", ["-euc", placed], { cwd: directory, env: environment });
    }
  }
}

async function copy(text: string, directory: string, context: string): Promise<void> {
  const [from, ...words] = text.split(" ");
  if (from?.startsWith("--from=")) {
    // All stages share one root: what stays in its place is there already.
    if (words[0] !== words[1]) await run("sh", ["-euc", `mkdir -p ${words[1]} && cp -r ${words.join(" ")}`]);
    return;
  }
  const ignored = readFileSync(join(context, ".dockerignore"), "utf8").split("\n");
  const sources = [from ?? "", ...words.slice(0, -1)];
  const names = sources[0] === "." ? await readdir(context) : sources;
  for (const name of names.filter((one) => !ignored.includes(one)))
    await cp(join(context, name), join(directory, name), { recursive: true });
}
