import { parse, printParseErrorCode, type ParseError } from "jsonc-parser";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse as parseToml } from "smol-toml";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseDocument } from "yaml";
import { codeBlocks } from "../../scripts/site/markdown.mjs";
import { commands } from "../../src/cli/commands.ts";
import { mainFile, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { ownArguments, problemOfCommand, shownCommands } from "./command-lines.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (file: string): string => readFileSync(join(root, file), "utf8");
const pages = [
  ...["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "AGENTS.md", "CHANGELOG.md"],
  ...["docs", "examples"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".md"))
      .map((name) => `${folder}/${name}`),
  ),
];
const { scripts } = JSON.parse(read("package.json")) as { scripts: Readonly<Record<string, string>> };

describe("what the pages show can be typed", () => {
  test.each(pages)("every toolyard command in %s exists, with its options", (page) => {
    const wrong = shownCommands(read(page)).flatMap(({ words, line }) => {
      const args = ownArguments(words);
      const problem = args === undefined ? undefined : problemOfCommand(commands, args);
      return problem === undefined ? [] : [`${page}:${line}: ${words.join(" ")}: ${problem}`];
    });
    expect(wrong).toEqual([]);
  });

  test.each(pages)("every npm script and file that a command in %s names is there", (page) => {
    const wrong = shownCommands(read(page)).flatMap(({ words, line }) => {
      const missing = missingPart(words);
      return missing === undefined ? [] : [`${page}:${line}: there is no ${missing}`];
    });
    expect(wrong).toEqual([]);
  });

  test("no page tells anybody to run a package that is not published", () => {
    const told = pages.flatMap((page) =>
      shownCommands(read(page))
        .filter(
          ({ words: [program, ...rest] }) =>
            program === "npx" && rest.find((word) => !word.startsWith("-")) === "toolyard",
        )
        .map(({ line }) => `${page}:${line}`),
    );
    expect(told).toEqual([]);
  });

  test.each([
    ["toolyard serve --port 3001", undefined],
    ["toolyard --config x.json", undefined],
    ["toolyard audit verify --json", undefined],
    ["toolyard logs -f github", undefined],
    ["toolyard <command>", undefined],
    ["toolyard --help", undefined],
    ["toolyard sreve", "there is no command sreve"],
    ["toolyard status --prot 3", "status has no option --prot"],
    ["toolyard status -x", "status has no option -x"],
    ["toolyard audit --limit 3 burn", "audit cannot burn"],
    ["ls | FOO=1 toolyard nothing # here", "there is no command nothing"],
  ])("%s: %s", (line, problem) => {
    const ours = shownCommands(`\`\`\`sh\n${line}\n\`\`\`\n`).flatMap(({ words }) => {
      const args = ownArguments(words);
      return args === undefined ? [] : [problemOfCommand(commands, args)];
    });
    expect(ours).toEqual([problem]);
  });
});

describe("what the pages show can be parsed", () => {
  const blocks = pages.flatMap((page) =>
    codeBlocks(read(page)).map((block) => ({ ...block, place: `${page}:${block.line}` })),
  );
  const inLanguages = (...names: string[]) =>
    blocks
      .filter(({ language }) => names.includes(language.split(" ")[0] ?? ""))
      .map((block) => [block.place, block] as const);

  test.each(inLanguages("json", "jsonc"))("the JSON of %s", (_place, { content }) => {
    const errors: ParseError[] = [];
    parse(content, errors, { allowTrailingComma: true });
    expect(
      errors.map(({ error, offset }) => `${printParseErrorCode(error)} at ${content.slice(offset, offset + 20)}`),
    ).toEqual([]);
  });

  test.each(inLanguages("toml"))("the TOML of %s", (_place, { content }) => {
    expect(parseToml(content)).not.toEqual({});
  });

  test.each(inLanguages("yaml", "yml"))("the YAML of %s", (_place, { content }) => {
    expect(parseDocument(content).errors).toEqual([]);
  });

  test("there are such blocks, so that these tests look at something", () => {
    expect(inLanguages("json", "jsonc").length).toBeGreaterThan(20);
    expect(inLanguages("toml").length).toBeGreaterThan(0);
  });
});

/** Blocks that are marked with `sh run` are typed into a shell, beside a gateway that serves the examples. */
describe("what the pages mark as runnable runs", () => {
  let gateway: RunningGateway;
  let home: string;
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), "toolyard-pages-"));
    await writeFile(join(home, "toolyard"), `#!/bin/sh\nexec "${process.execPath}" "${mainFile}" "$@"\n`);
    await chmod(join(home, "toolyard"), 0o755);
    const config = JSON.parse(read("examples/mcp.json").replaceAll(/^\s*\/\/.*$/gm, "")) as {
      mcpServers: Record<string, { args: string[]; cwd?: string }>;
    };
    for (const entry of Object.values(config.mcpServers)) entry.cwd = join(root, "examples");
    gateway = await startGateway({ config, env: { MEMORY_FILE_PATH: join(home, "memory.json") } });
  });
  afterAll(async () => {
    // Commands that name the examples started a gateway of their own for them.
    await runInShell("toolyard stop --config examples/mcp.json || true");
    await gateway[Symbol.asyncDispose]();
    await rm(home, { recursive: true });
  });

  const runnable = pages.flatMap((page) =>
    codeBlocks(read(page))
      .filter(({ language }) => language === "sh run")
      .map(({ content, line }) => [`${page}:${line}`, content, promisedOutput(read(page), content)] as const),
  );

  test("there are some, and pages promise what comes out", () => {
    expect(runnable.length).toBeGreaterThan(7);
    expect(runnable.filter(([, , promised]) => promised !== undefined).length).toBeGreaterThan(5);
  });

  test.each(runnable)("%s", async (_place, content, promised = "") => {
    const { code, output } = await runInShell(content.replaceAll("http://127.0.0.1:3001", gateway.url));
    expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining(promised) });
    expect(output).toMatch(/\S/);
    expect(output).not.toMatch(/^toolyard: .*(?:cannot|no gateway)|"(?:error|isError)":(?!false|null)/m);
  });

  async function runInShell(text: string): Promise<{ readonly code: number | null; readonly output: string }> {
    const child = spawn("bash", ["-euo", "pipefail", "-c", text], {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...process.env,
        PATH: `${home}${delimiter}${process.env["PATH"] ?? ""}`,
        HOME: home,
        TMPDIR: home,
        TOOLYARD_CONFIG: gateway.configFile,
        TOOLYARD_DATA_DIR: join(gateway.directory, "data"),
      },
    });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
    return await new Promise((resolve) => child.once("close", (code) => resolve({ code, output })));
  }
});

/** What the sentence behind a block says that its output holds. */
function promisedOutput(page: string, content: string): string | undefined {
  const [next = ""] = page.slice(page.indexOf(content) + content.length + "```".length).split(/\n```|\n## /);
  return /answer holds `([^`]+)`/.exec(next)?.[1];
}

/** What a command line names that is not there: a script of package.json, a file for node, a test, a benchmark. */
function missingPart(words: readonly string[]): string | undefined {
  const [program, ...rest] = words;
  const isThere = (path: string): boolean => existsSync(join(root, path));
  if (program === "node" && /^(?:scripts|examples|bench|test)\//.test(rest[0] ?? ""))
    return isThere(rest[0] ?? "") ? undefined : rest[0];
  if (program !== "npm") return undefined;
  const script = rest[0] === "run" ? rest[1] : ["test", "start"].includes(rest[0] ?? "") ? rest[0] : undefined;
  if (script === undefined) return undefined;
  if (scripts[script] === undefined) return `npm script ${script}`;
  return rest.find((word) => /^(?:bench|test|src|scripts)\/[\w./-]+$/.test(word) && !isThere(word));
}
