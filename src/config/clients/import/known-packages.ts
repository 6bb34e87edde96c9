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
export function runsKnownPackages(program: string, args: readonly string[]): boolean {
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
