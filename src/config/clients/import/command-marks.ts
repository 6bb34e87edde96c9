import { sandboxMarks, type SandboxMark, type SandboxSource } from "../../entry/sandbox-entry.ts";
import { isDangerousVariable } from "../../people/member-rules.ts";
import type { ImportedEntry } from "../connect/client-entry.ts";

/** What a person should look at twice before a command is started. */
export type CommandMark =
  /** Fetches a program and runs it: npx and uvx of a package that is neither pinned nor known, docker, curl. */
  | "runs a download"
  /** Is a program or a script in a folder for downloads or for temporary files. */
  | "is in a folder for downloads or temporary files"
  /** Hands a line to a shell. */
  | "runs a shell"
  /** Runs code given in its arguments: `node -e`, `python -c`. */
  | "runs code from its arguments"
  /** A variable makes the process load or run something else: NODE_OPTIONS, LD_PRELOAD, PATH. */
  | "a variable changes what runs"
  /** It asks for more than a sandbox gives by itself. */
  | SandboxMark;

/** What counts where an entry says nothing, and what its paths mean. Paths are those of this machine. */
export interface MarkSource extends Pick<SandboxSource, "directory" | "mode"> {
  readonly home: string | undefined;
}

const nothingKnown: MarkSource = { directory: "/", mode: "off", home: undefined };

/**
 * The marks of a command, in the order of the type. None for a remote server. Of paths below the user's home, only the
 * part from there on counts.
 */
export function marksOf(
  { command, args = [], env = {}, cwd = "", sandbox }: ImportedEntry,
  { home, ...source }: MarkSource = nothingKnown,
): readonly CommandMark[] {
  if (command === undefined) return [];
  const found = new Set<CommandMark>();
  look(command, args, found, 0);
  if ([command, ...scriptOf(command, args)].some((path) => isPassing(path, cwd, home)))
    found.add("is in a folder for downloads or temporary files");
  if (Object.keys(env).some(isDangerousVariable)) found.add("a variable changes what runs");
  return [...order.filter((mark) => found.has(mark)), ...sandboxMarks(sandbox, { ...source, home: () => home })];
}

/**
 * Whether a server is chosen unless a person says otherwise. Others are chosen by hand: their program is unknown, or in
 * a place where anything may be put, or their sandbox is loosened.
 */
export function isPreselected(entry: ImportedEntry, source: MarkSource = nothingKnown): boolean {
  const isFetched = entry.command !== undefined && fetchers.has(programName(entry.command));
  return !isFetched && marksOf(entry, source).every((mark) => mark === "runs a download");
}

/** Programs that fetch anything, and no packages. */
const fetchers: ReadonlySet<string> = new Set(["curl", "wget", "iwr", "irm"]);

const order: readonly CommandMark[] = [
  "runs a download",
  "is in a folder for downloads or temporary files",
  "runs a shell",
  "runs code from its arguments",
  "a variable changes what runs",
];

/** Who nests programs more deeply wants to hide something. */
const mostNesting = 5;

/** Programs that fetch what they run, with the words that must follow. None: they always do. */
const downloaders: Readonly<Record<string, readonly string[]>> = {
  npx: [],
  bunx: [],
  pnpx: [],
  uvx: [],
  npm: ["exec", "x", "create", "init"],
  pnpm: ["dlx", "exec", "create"],
  yarn: ["dlx", "create"],
  bun: ["x"],
  uv: ["tool", "run"],
  pipx: ["run"],
  docker: ["run", "compose"],
  podman: ["run", "compose"],
  nerdctl: ["run", "compose"],
  go: ["run"],
  dnx: [],
  nix: ["run", "shell"],
  jbang: [],
  curl: [],
  wget: [],
  iwr: [],
  irm: [],
};

const shells: ReadonlySet<string> = new Set(
  "sh bash dash zsh ksh fish csh tcsh busybox cmd powershell pwsh wsl".split(" "),
);

/** Programs that run another one, which their arguments name. */
const wrappers: ReadonlySet<string> = new Set(
  "env nohup setsid sudo doas xargs exec timeout nice time xvfb-run dotenv dotenvx op doppler infisical mise".split(
    " ",
  ),
);

/** Options with which an interpreter runs its next argument as code. */
const interpreters: Readonly<Record<string, RegExp>> = {
  node: /^(?:-[ep]{1,2}|--eval|--print)(?:=|$)/,
  bun: /^(?:-e|--eval|-p|--print)(?:=|$)/,
  deno: /^eval$/,
  python: /^-[A-Za-z]*c/,
  pypy: /^-[A-Za-z]*c/,
  perl: /^-[A-Za-z]*[eE]/,
  ruby: /^-[A-Za-z]*e/,
  php: /^-r/,
  lua: /^-e/,
};

function look(command: string, args: readonly string[], found: Set<CommandMark>, nesting: number): void {
  if (nesting > mostNesting) {
    found.add("runs a shell");
    return;
  }
  const program = programName(command);
  if (shells.has(program)) {
    found.add("runs a shell");
    for (const part of args.join(" ").split(/[|;&\n`()]+|\$\(/)) lookAtLine(part, found, nesting);
    return;
  }
  const words = Object.hasOwn(downloaders, program) ? downloaders[program] : undefined;
  const isFetched = words !== undefined && (words.length === 0 || args.some((arg) => words.includes(arg)));
  if (isFetched && !runsKnownPackages(program, args)) found.add("runs a download");
  if (args.some((arg) => /^(?:npm:|jsr:|https?:)/.test(arg)) && program === "deno") found.add("runs a download");
  // `npx -c` and `npm exec -c` hand their line to a shell.
  if (/^(?:npx|npm|pnpm)$/.test(program) && args.some((arg) => /^(?:-c|--call)(?:=|$)/.test(arg)))
    found.add("runs a shell");
  const code = interpreters[program.replace(/[\d.]+$/, "")];
  const options = args.slice(0, Math.max(0, firstWord(args)) + 1);
  if (code !== undefined && options.some((arg) => code.test(arg))) found.add("runs code from its arguments");
  if (wrappers.has(program)) lookAtWords(args, found, nesting);
}

function lookAtLine(line: string, found: Set<CommandMark>, nesting: number): void {
  const words = line.match(/"[^"]*"|'[^']*'|[^\s"']+/g) ?? [];
  lookAtWords(
    words.map((word) => word.replace(/^["']+|["']+$/g, "")),
    found,
    nesting,
  );
}

/** The program of a line comes after options and assignments. */
function lookAtWords(words: readonly string[], found: Set<CommandMark>, nesting: number): void {
  const at = words.findIndex((word) => !/^(?:[-/][\w-]*$|\w+=)/.test(word) && word !== "exec");
  const program = words[at];
  if (program === undefined) return;
  if (program.includes(" ")) lookAtLine(program, found, nesting + 1);
  else look(program, words.slice(at + 1), found, nesting + 1);
}

/** The first argument that is no option: what follows it belongs to the script. */
function firstWord(args: readonly string[]): number {
  const at = args.findIndex((arg) => !arg.startsWith("-"));
  return at === -1 ? args.length : at;
}

/** Programs whose first word is a script. */
const scriptRunners: ReadonlySet<string> = new Set(
  "node bun deno python pypy perl ruby php lua java tsx ts-node uv dotnet".split(" "),
);

/** What an interpreter runs: its first word, which may stand behind a word of its own (`deno run x.ts`). */
function scriptOf(command: string, args: readonly string[]): readonly string[] {
  if (!scriptRunners.has(programName(command).replace(/[\d.]+$/, ""))) return [];
  return args.filter((arg) => !arg.startsWith("-")).slice(0, 2);
}

/** Folders into which browsers and programs put anything, in the languages of most people. */
const passingFolders =
  /(?:^|[/\\])(?:tmp|temp|shm|downloads?|téléchargements|descargas|scaricati|transferências|pobrane|загрузки|下载|ダウンロード|var[/\\]folders)[/\\]|^(?:\$\{?(?:env:)?|%)(?:tmpdir|temp|tmp)\b/iu;

function isPassing(path: string, cwd: string, home: string | undefined): boolean {
  const isFile = /[/\\]|\.\w+$/.test(path);
  const isWhole = /^(?:[/\\~$%]|[A-Za-z]:)/.test(path);
  const whole = isWhole || cwd === "" ? path : `${cwd}/${path}`;
  const counting = home !== undefined && whole.startsWith(`${home}/`) ? whole.slice(home.length) : whole;
  return isFile && passingFolders.test(counting.normalize("NFC"));
}

function programName(command: string): string {
  const base = command.split(/[/\\]/).at(-1) ?? command;
  return base.toLowerCase().replace(/\.(exe|cmd|bat|ps1)$/, "");
}

/** How a program that fetches packages is told which one. */
interface PackageRunner {
  /** Words that stand before the package; one of them has to, unless there are none. */
  readonly words: readonly string[];
  /** Options whose value is the package. Without one it is the first word. */
  readonly options: readonly string[];
  readonly registry: "npm" | "pypi";
}

/** By the name of the program. */
const runners: Readonly<Record<string, PackageRunner>> = {
  npx: { words: [], options: ["-p", "--package"], registry: "npm" },
  bunx: { words: [], options: ["-p", "--package"], registry: "npm" },
  pnpx: { words: [], options: ["-p", "--package"], registry: "npm" },
  npm: { words: ["exec", "x"], options: ["-p", "--package"], registry: "npm" },
  pnpm: { words: ["dlx"], options: ["--package"], registry: "npm" },
  yarn: { words: ["dlx"], options: ["-p", "--package"], registry: "npm" },
  bun: { words: ["x"], options: ["-p", "--package"], registry: "npm" },
  uvx: { words: [], options: ["--from", "--with"], registry: "pypi" },
  uv: { words: ["run"], options: ["--from", "--with"], registry: "pypi" },
  pipx: { words: ["run"], options: ["--spec"], registry: "pypi" },
};

/** Everything in these scopes of npm is published by the owner that the scope is named after. */
const scopes: ReadonlySet<string> = new Set(
  (
    "anthropic-ai,apify,atlassian,aws,azure,azure-devops,browserbasehq,circleci,cloudflare,elastic,github,gitlab,google," +
    "grafana,heroku,hubspot,microsoft,modelcontextprotocol,mongodb-js,neondatabase,netlify,notionhq,openai,paypal," +
    "playwright,pulumi,salesforce,sentry,shopify,stripe,supabase,upstash,vercel"
  ).split(","),
);

/** Servers that many people have, as they are called in their registry. */
const known: Readonly<Record<PackageRunner["registry"], ReadonlySet<string>>> = {
  npm: new Set(
    "chrome-devtools-mcp,exa-mcp-server,figma-developer-mcp,firecrawl-mcp,mcp-remote,mongodb-mcp-server,tavily-mcp".split(
      ",",
    ),
  ),
  pypi: new Set(
    "markitdown-mcp,mcp-proxy,mcp-server-fetch,mcp-server-git,mcp-server-sqlite,mcp-server-time".split(","),
  ),
};

/**
 * Whether a command runs nothing but packages that are pinned to one version, or that many people have: what it fetches
 * is then no surprise. False for any other command.
 */
function runsKnownPackages(program: string, args: readonly string[]): boolean {
  const runner = Object.hasOwn(runners, program) ? runners[program] : undefined;
  if (runner === undefined) return false;
  const packages = packagesIn(args, runner);
  return packages.length > 0 && packages.every((spec) => isPinnedOrKnown(spec, runner.registry));
}

function packagesIn(args: readonly string[], { words, options }: PackageRunner): readonly string[] {
  const given: string[] = [];
  let isWordSeen = words.length === 0;
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? "";
    const [name = "", value] = arg.split(/=(.*)/s, 2);
    if (options.includes(name)) given.push(value ?? args[(at += 1)] ?? "");
    else if (arg.startsWith("-")) continue;
    else if (!isWordSeen) isWordSeen = words.includes(arg);
    // With packages by an option, the first word is a program of theirs.
    else return given.length > 0 ? given : [arg];
  }
  return given;
}

function isPinnedOrKnown(spec: string, registry: PackageRunner["registry"]): boolean {
  if (registry === "pypi") {
    const [, name = "", version] =
      /^([A-Za-z0-9][\w.-]*)(?:\[[\w,-]*\])?((?:==|@)\d+(?:\.\d+)+\w*)?(?:@latest)?$/.exec(spec) ?? [];
    return name !== "" && (version !== undefined || known.pypi.has(name) || name.startsWith("awslabs."));
  }
  const [, scope, name = "", version] = /^(?:@([\w.-]+)\/)?([\w.-]+)(?:@([\w.+-]+))?$/.exec(spec) ?? [];
  if (name === "") return false;
  if (version !== undefined && /^\d+\.\d+\.\d+/.test(version)) return true;
  return scope === undefined ? known.npm.has(name) : scopes.has(scope);
}
