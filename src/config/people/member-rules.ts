import type { ServerOverrides, StdioTransport, Transport } from "../config.ts";
import { hasProcess } from "../entry/transports.ts";

/**
 * Which of a team's or a person's overrides may be used, and why the others may not. The reasons contain names only,
 * never values.
 */
export interface Allowed {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly ignored: readonly string[];
}

/**
 * Keeps what a member may set for a server: values for a program that the operator chose, never another program
 * (fault 91). `command`, `cwd` and `url` cannot be overridden at all. Ignored are also variables that make a process
 * load or run something else, headers that frame the message, and arguments that a launcher would run as code.
 */
export function allowOverrides(transport: Transport, overrides: ServerOverrides): Allowed {
  const ignored: string[] = [];
  const keep = <Value>(
    part: string,
    values: Readonly<Record<string, Value>> | undefined,
    isRefused: (name: string) => boolean,
  ) => {
    const refused = Object.keys(values ?? {}).filter(isRefused);
    ignored.push(...refused.map((name) => `${part}.${name}`));
    return Object.fromEntries(Object.entries(values ?? {}).filter(([name]) => !refused.includes(name)));
  };
  const env = keep("env", overrides.env, isDangerousVariable);
  const headers = keep("headers", overrides.headers, isFramingHeader);
  const given = overrides.args ?? [];
  const areArgsRefused = given.length > 0 && hasProcess(transport) && wouldRunCode(transport, given);
  if (areArgsRefused) ignored.push("args");
  return { args: areArgsRefused ? [] : given, env, headers, ignored };
}

/** Compared without regard to case, because Windows ignores it. A prefix ends in `*`. */
const dangerousVariables = [
  // The dynamic loader.
  "LD_*",
  "DYLD_*",
  "GCONV_PATH",
  "GLIBC_TUNABLES",
  "MALLOC_*",
  "OPENSSL_CONF",
  "OPENSSL_MODULES",
  "OPENSSL_ENGINES",
  // Which program is found, and where it looks for its settings.
  "PATH",
  "PATHEXT",
  "COMSPEC",
  "SYSTEMROOT",
  "WINDIR",
  "HOME",
  "USERPROFILE",
  "APPDATA",
  "LOCALAPPDATA",
  "XDG_*",
  "TMPDIR",
  "TEMP",
  "TMP",
  // Shells.
  "SHELL",
  "ENV",
  "BASH_ENV",
  "BASH_FUNC_*",
  "SHELLOPTS",
  "BASHOPTS",
  "PS4",
  "PROMPT_COMMAND",
  "IFS",
  "CDPATH",
  "ZDOTDIR",
  // Runtimes.
  "NODE_OPTIONS",
  "NODE_PATH",
  "NODE_REPL_EXTERNAL_MODULE",
  "NODE_EXTRA_CA_CERTS",
  "NODE_TLS_REJECT_UNAUTHORIZED",
  "NODE_COMPILE_CACHE",
  "NODE_V8_COVERAGE",
  "ELECTRON_RUN_AS_NODE",
  "DENO_*",
  "BUN_*",
  "TS_NODE_*",
  "TSX_*",
  "PYTHON*",
  "VIRTUAL_ENV",
  "CONDA_*",
  "PERL*",
  "RUBY*",
  "GEM_*",
  "BUNDLE_*",
  "LUA_*",
  "PHPRC",
  "PHP_INI_SCAN_DIR",
  "JAVA_TOOL_OPTIONS",
  "_JAVA_OPTIONS",
  "JDK_JAVA_OPTIONS",
  "JAVA_OPTS",
  "CLASSPATH",
  "DOTNET_*",
  "COR_*",
  "CORECLR_*",
  "COMPLUS_*",
  "R_PROFILE*",
  "ERL_*",
  "ELIXIR_ERL_OPTIONS",
  "GUILE_*",
  // Package runners.
  "NPM_CONFIG_*",
  "YARN_*",
  "PNPM_*",
  "COREPACK_*",
  "UV_*",
  "PIP_*",
  "PIPX_*",
  "POETRY_*",
  "CARGO_*",
  "RUSTC*",
  "GOFLAGS",
  "GOPROXY",
  "GOENV",
  // Programs that other programs run.
  "GIT_SSH*",
  "GIT_EXEC_PATH",
  "GIT_ASKPASS",
  "GIT_EDITOR",
  "GIT_SEQUENCE_EDITOR",
  "GIT_PAGER",
  "GIT_EXTERNAL_DIFF",
  "GIT_PROXY_COMMAND",
  "GIT_CONFIG*",
  "GIT_TEMPLATE_DIR",
  "GIT_DIR",
  "GIT_WORK_TREE",
  "SSH_ASKPASS*",
  "SUDO_ASKPASS",
  "EDITOR",
  "VISUAL",
  "PAGER",
  "MANPAGER",
  "BROWSER",
  "LESSOPEN",
  "LESSCLOSE",
  // Where traffic goes. The template's secrets travel with it.
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "ALL_PROXY",
  "NO_PROXY",
  "SSL_CERT_*",
  "CURL_CA_BUNDLE",
  "REQUESTS_CA_BUNDLE",
  "HOSTALIASES",
  "RES_OPTIONS",
  "DOCKER_*",
  "CONTAINER_*",
  "KUBECONFIG",
  // Our own marks, by which processes are found and stopped.
  "TOOLYARD_*",
] as const;

/** Whether a variable can make a process load or run something else. Case does not matter. */
export function isDangerousVariable(name: string): boolean {
  const upper = name.toUpperCase();
  return dangerousVariables.some((rule) => (rule.endsWith("*") ? upper.startsWith(rule.slice(0, -1)) : upper === rule));
}

const framingHeaders: readonly string[] = [
  "host",
  "content-length",
  "content-type",
  "content-encoding",
  "transfer-encoding",
  "connection",
  "keep-alive",
  "upgrade",
  "te",
  "trailer",
  "expect",
  "accept",
  "last-event-id",
];

function isFramingHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return (
    framingHeaders.includes(lower) ||
    lower.startsWith("mcp-") ||
    lower.startsWith("proxy-") ||
    lower.startsWith("x-forwarded-")
  );
}

/** Programs that run what their arguments name. */
const launchers: readonly string[] = (
  "sh bash dash zsh ksh fish csh tcsh busybox cmd powershell pwsh env nohup setsid sudo su xargs exec timeout nice " +
  "node nodejs deno bun bunx tsx ts-node npx npm pnpm pnpx yarn " +
  "python python2 python3 pypy pypy3 pip pipx uv uvx poetry perl ruby php lua java dotnet go cargo docker podman nerdctl kubectl ssh"
).split(" ");

const codeOptions =
  /^(-[cepmrIiX]|--(call|eval|print|require|import|loader|experimental-loader|command|package|with|from|index-url|registry)(=.*)?|[/-](c|k|command|encodedcommand))$/i;

/**
 * Overrides are appended to the template's arguments, so that normally a launcher already has its program when it
 * reads them. Where the template names no program, or an option that runs code precedes them, the launcher would run
 * what the member wrote.
 */
function wouldRunCode(template: StdioTransport, given: readonly string[]): boolean {
  if (!isLauncher(template.command)) return false;
  // An assignment such as in `env A=b` does not name a program.
  const namesProgram = template.args.some((argument) => !/^-|^\w+=/.test(argument));
  return !namesProgram || given.some((argument) => codeOptions.test(argument));
}

/** `python3.12` and `C:\\nodejs\\node.exe` are launchers as well. */
function isLauncher(command: string): boolean {
  const name = (command.split(/[/\\]/).at(-1) ?? "").toLowerCase().replace(/\.(exe|cmd|bat|ps1)$/, "");
  return launchers.includes(name) || launchers.includes(name.replace(/[0-9.]+$/, ""));
}
