import type { Transport } from "../../../config/config.ts";
import { hasProcess } from "../../../config/entry/transports.ts";

/** Programs that download a package before they run it. */
export type PackageRunner = "npx" | "uvx" | "bunx" | "pipx" | "docker";

interface RunnerForm {
  readonly runner: PackageRunner;
  /** The program's name without folder and without `.exe` or `.cmd`. */
  readonly program: string;
  /** The subcommand that downloads; undefined where the program does nothing else. */
  readonly words?: readonly string[];
}

const forms: readonly RunnerForm[] = [
  { runner: "npx", program: "npx" },
  { runner: "npx", program: "npm", words: ["exec"] },
  { runner: "npx", program: "npm", words: ["x"] },
  { runner: "npx", program: "pnpx" },
  { runner: "npx", program: "pnpm", words: ["dlx"] },
  { runner: "npx", program: "yarn", words: ["dlx"] },
  { runner: "uvx", program: "uvx" },
  { runner: "uvx", program: "uv", words: ["tool", "run"] },
  { runner: "uvx", program: "uv", words: ["run"] },
  { runner: "bunx", program: "bunx" },
  { runner: "bunx", program: "bun", words: ["x"] },
  { runner: "pipx", program: "pipx", words: ["run"] },
  { runner: "docker", program: "docker", words: ["run"] },
  { runner: "docker", program: "podman", words: ["run"] },
];

/**
 * Among how many words, options not counted, the subcommand is looked for: in `docker --context far container run` it
 * is the third.
 */
const subcommandWords = 3;

/** The runner that starts a server; undefined when the command is the server's own program. Pure. */
export function packageRunnerOf(transport: Transport): PackageRunner | undefined {
  if (!hasProcess(transport)) return undefined;
  const [command = "", ...args] = withoutShell([transport.command, ...transport.args]);
  const program = programOf(command);
  const words = args.filter((arg) => !arg.startsWith("-")).slice(0, subcommandWords);
  return forms.find((form) => form.program === program && (form.words ?? []).every((word) => words.includes(word)))
    ?.runner;
}

/** On Windows `npx` is a script, which configurations start as `cmd /c npx ...`. */
function withoutShell(line: readonly string[]): readonly string[] {
  return programOf(line[0] ?? "") === "cmd" && line[1]?.toLowerCase() === "/c" ? line.slice(2) : line;
}

function programOf(command: string): string {
  const name = command.slice(Math.max(command.lastIndexOf("/"), command.lastIndexOf("\\")) + 1);
  return name.toLowerCase().replace(/\.(cmd|exe|bat)$/, "");
}
