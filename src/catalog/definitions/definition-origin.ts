import type { ServerConfig, Transport } from "../../config/config.ts";
import { launchedBy, type Launched } from "../../config/entry/launched-server.ts";
import { hasProcess } from "../../config/entry/transports.ts";

const known = new WeakMap<ServerConfig, string>();

/**
 * Whose definitions a server's are: of its entry or installation, and of where it comes from. Another package, program
 * or address is another server, whose definitions are seen for the first time; another version is the same one.
 */
export function definitionOwner(server: ServerConfig): string {
  let owner = known.get(server);
  if (owner === undefined)
    known.set(server, (owner = `${server.installed?.id ?? server.slug}\n${originOf(server.transport)}`));
  return owner;
}

/** Without versions, and without what differs between people: values in a query, options of a program. */
export function originOf(transport: Transport): string {
  if (!hasProcess(transport)) return addressOf(transport.url);
  const { command, args } = transport;
  const packages = launchedBy(command, args).filter(({ from }) => from === "npm" || from === "pypi");
  if (packages.length > 0) return packages.map(toText).join(" ");
  const image = /(?:^|[/\\])(?:docker|podman|nerdctl)(?:\.exe)?$/.test(command) ? imageIn(args) : undefined;
  return image ?? [command, args.find((arg) => !arg.startsWith("-")) ?? ""].join(" ");
}

function toText({ from, name }: Launched): string {
  return `${from}:${name}`;
}

function addressOf(url: string): string {
  try {
    const { protocol, host, pathname } = new URL(url);
    return `${protocol}//${host}${pathname}`;
  } catch {
    return url;
  }
}

/** Options of `docker run` whose value is the next argument. */
const imageOptions =
  /^(?:-[evpwul]|--(?:env|env-file|volume|mount|name|network|publish|user|workdir|entrypoint|memory|cpus|label|platform|add-host|pull|hostname))$/;

function imageIn(args: readonly string[]): string | undefined {
  const run = args.indexOf("run");
  if (run === -1) return undefined;
  for (let at = run + 1; at < args.length; at += 1) {
    const arg = args[at] as string;
    if (imageOptions.test(arg)) at += 1;
    else if (!arg.startsWith("-")) return `image:${(arg.split("@")[0] ?? "").replace(/:[^:/]*$/, "")}`;
  }
  return undefined;
}
