/** What a command starts: a package from a registry, a container image, or a program. */
export interface Launched {
  readonly from: "npm" | "pypi" | "images" | "commands";
  readonly name: string;
}

/**
 * Everything that a command and its arguments may start: `npx -y @playwright/mcp@latest`, for example, starts the npm
 * package `@playwright/mcp`. Versions, tags and digests are left out. Pure. For an unusual command only its program
 * is returned.
 */
export function launchedBy(command: string, args: readonly string[], nesting = 0): readonly Launched[] {
  const program = programOf(command);
  const own = [...inModules(command), { from: "commands", name: program } as const];
  // With shells nested more deeply, `stateful` has to be set by hand.
  if (nesting > mostNesting) return own;
  return [...own, ...throughLauncher(program, args, nesting)];
}

const mostNesting = 3;

function throughLauncher(program: string, args: readonly string[], nesting: number): readonly Launched[] {
  const inner = (words: readonly string[]): readonly Launched[] =>
    words[0] === undefined ? [] : launchedBy(words[0], words.slice(1), nesting + 1);
  switch (program) {
    case "npx":
    case "bunx":
    case "pnpx":
      return npmRun(args);
    case "npm":
    case "pnpm":
    case "yarn":
      return ["exec", "x", "dlx"].includes(args[0] ?? "") ? npmRun(args.slice(1)) : [];
    case "bun":
      return args[0] === "x" ? npmRun(args.slice(1)) : scripts(args);
    case "node":
    case "deno":
    case "tsx":
      return scripts(args);
    case "uvx":
      return pypiRun(args);
    case "uv":
      if (args[0] === "tool" && args[1] === "run") return pypiRun(args.slice(2));
      return args.includes("run") ? pypiRun(args.slice(args.indexOf("run") + 1)) : [];
    case "pipx":
      return args[0] === "run" ? pypiRun(args.slice(1)) : [];
    case "docker":
    case "podman":
    case "nerdctl":
      return args.includes("run") ? args.slice(args.indexOf("run") + 1).map(toImage) : [];
    case "env":
    case "xvfb-run":
      return inner(args.slice(args.findIndex((arg) => !arg.startsWith("-") && !arg.includes("="))));
    case "cmd":
      return /^\/[ck]$/i.test(args[0] ?? "") ? inner(args.slice(1)) : [];
    case "sh":
    case "bash":
    case "zsh":
      return /^-\w*c$/.test(args[0] ?? "") ? inner(shellWords(args[1] ?? "")) : [];
    default:
      return isPython(program) && args[0] === "-m" && args[1] !== undefined
        ? [{ from: "pypi", name: toPypiName(args[1]) }]
        : [];
  }
}

/** Options of the package runners whose value is the next argument, so that it is not taken for a package. */
const npmValues: ReadonlySet<string> = new Set([
  "--registry",
  "--cache",
  "--prefix",
  "--userconfig",
  "-w",
  "--workspace",
]);
const pypiValues: ReadonlySet<string> = new Set([
  "-p",
  "--python",
  "--directory",
  "--project",
  "--index",
  "--index-url",
  "--default-index",
  "--extra-index-url",
  "--pip-args",
  "--env-file",
  "--refresh-package",
]);

function npmRun(args: readonly string[]): readonly Launched[] {
  const { named, program } = readRunner(args, new Set(["-p", "--package"]), npmValues);
  const packages = [...named, ...(program === undefined ? [] : [program])].map((spec): Launched => ({
    from: "npm",
    name: toNpmName(spec),
  }));
  return named.length > 0 && program !== undefined ? [...packages, { from: "commands", name: program }] : packages;
}

function pypiRun(args: readonly string[]): readonly Launched[] {
  const { named, program, rest } = readRunner(args, new Set(["--from", "--spec", "--with"]), pypiValues);
  const packages = named.map((spec): Launched => ({ from: "pypi", name: toPypiName(spec) }));
  if (program === undefined) return packages;
  // `uv run python -m package`, which the manuals of several servers recommend.
  if (isPython(program)) return [...packages, ...launchedBy(program, rest, mostNesting)];
  const base = programOf(program);
  return [...packages, { from: "pypi", name: toPypiName(program) }, { from: "commands", name: base }];
}

interface Runner {
  /** Packages that are named by options. */
  readonly named: readonly string[];
  /** The first argument that is not an option. */
  readonly program: string | undefined;
  readonly rest: readonly string[];
}

function readRunner(args: readonly string[], naming: ReadonlySet<string>, values: ReadonlySet<string>): Runner {
  const named: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] as string;
    const equals = arg.startsWith("-") ? arg.indexOf("=") : -1;
    const option = equals === -1 ? arg : arg.slice(0, equals);
    if (arg === "--") continue;
    if (!arg.startsWith("-")) return { named, program: arg, rest: args.slice(at + 1) };
    if (naming.has(option)) {
      const value = equals === -1 ? args[(at += 1)] : arg.slice(equals + 1);
      if (value !== undefined) named.push(value);
    } else if (values.has(option) && equals === -1) at += 1;
  }
  return { named, program: undefined, rest: [] };
}

/** Recognises `node /path/node_modules/PACKAGE/cli.js` and `deno run npm:PACKAGE`. */
function scripts(args: readonly string[]): readonly Launched[] {
  return args.flatMap((arg) =>
    arg.startsWith("npm:") ? [{ from: "npm" as const, name: toNpmName(arg.slice(4)) }] : inModules(arg),
  );
}

function inModules(path: string): readonly Launched[] {
  const inside = path.replaceAll("\\", "/").split("/node_modules/").at(-1);
  if (inside === undefined || !/[/\\]node_modules[/\\]/.test(path)) return [];
  const [first = "", second = ""] = inside.split("/");
  if (first === ".bin") return [{ from: "commands", name: programOf(second) }];
  return [{ from: "npm", name: first.startsWith("@") ? `${first}/${second}` : first }];
}

/** The program's name as it is found in PATH, without the extension that a system adds. */
function programOf(command: string): string {
  const base = command.split(/[/\\]/).at(-1) ?? command;
  return base.toLowerCase().replace(/\.(exe|cmd|bat|ps1)$/, "");
}

function isPython(program: string): boolean {
  return /^(python|py)[\d.]*$/.test(programOf(program));
}

/** `@scope/name@1.2` and `name@latest` without the version. */
function toNpmName(spec: string): string {
  const at = spec.indexOf("@", 1);
  return at === -1 ? spec : spec.slice(0, at);
}

/** `Some_Package[extra]>=1.2` as PyPI normalises it (packaging.python.org, name normalization). */
function toPypiName(spec: string): string {
  return (/^[A-Za-z0-9._-]+/.exec(spec)?.[0] ?? spec).toLowerCase().replace(/[-_.]+/g, "-");
}

function toImage(reference: string): Launched {
  const untagged = (reference.split("@")[0] ?? "").replace(/:[^:/]*$/, "");
  return { from: "images", name: untagged.replace(/^(?:docker\.io|ghcr\.io|index\.docker\.io)\//, "") };
}

/** Splits a shell's line into words. Good enough for lines such as `exec npx -y "@playwright/mcp@latest"`. */
function shellWords(line: string): readonly string[] {
  const words = line.match(/"[^"]*"|'[^']*'|[^\s"']+/g) ?? [];
  const plain = words.map((word) => word.replace(/^(["'])(.*)\1$/, "$2"));
  const begin = plain.findIndex((word) => word !== "exec" && !/^[A-Za-z_]\w*=/.test(word));
  return begin === -1 ? [] : plain.slice(begin);
}
