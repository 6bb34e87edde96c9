import { readFileSync } from "node:fs";

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
