import { createHash } from "node:crypto";
import { toClientName, withHash } from "../model/names/name-claims.ts";
import type { ToolEntry } from "../model/snapshot.ts";
import type { View, ViewServer } from "../model/view.ts";
import type { Era } from "../../kernel/call/call-context.ts";
import { isMetaTool } from "./meta/meta-tools.ts";
import { toListedTool, toListing, toolFor } from "./native.ts";
import { nearestNames } from "./text/suggestions.ts";
import type { Listing, PinnedTools } from "./exposure.ts";

/** One pin: the tool that it names, and the name that the list gives it. */
export interface Pin {
  readonly path: string;
  /** Undefined where no tool of this path may be seen. */
  readonly found: { readonly tool: ToolEntry; readonly server: ViewServer; readonly name: string } | undefined;
}

const nearestShown = 3;

/**
 * What each path pins, in the given order. A tool keeps its own name where clients accept that, no other pin has it,
 * and none of the gateway's tools is called so; otherwise it has the name of the flat list. Both follow from the paths,
 * so that a server that is down or not seen yet changes no name.
 */
export function readPins(view: View, paths: readonly string[]): readonly Pin[] {
  const taken = new Set<string>();
  return paths.map((path) => {
    const server = view.servers.find(({ slug }) => path.startsWith(`${slug}:`));
    const tool = server?.status === "disabled" ? undefined : server?.tools.find((entry) => entry.path === path);
    if (server === undefined || tool === undefined) return { path, found: undefined };
    const name = freeName(hasOwnName(path, paths) ? ownName(path) : view.names.flatName(tool), path, taken);
    taken.add(name);
    return { path, found: { tool, server, name } };
  });
}

/** The list of one view, whatever the state of the servers: the tools of a server that is down are kept. */
export function pinTools(view: View, paths: readonly string[], era: Era | undefined): PinnedTools {
  const found = readPins(view, paths).flatMap((pin) => (pin.found === undefined ? [] : [{ ...pin.found, ...pin }]));
  const items = found.map(({ tool, server, name }) => toListedTool(toolFor(era, tool.definition), name, server));
  const key = createHash("sha256").update(items.join("\n")).digest("base64url");
  const servers = [...new Set(found.map(({ server }) => server))];
  return Object.freeze({
    listing: { ...toListing(servers, items), cacheScope: "private" as const },
    paths: new Map(found.map(({ name, path }) => [name, path])),
    key,
  });
}

/** A list of our own tools, with the pinned ones behind them. */
export function withPinned(own: Listing, pinned: PinnedTools | undefined): Listing {
  if (pinned === undefined || pinned.paths.size === 0) return own;
  return { ...pinned.listing, items: [...own.items, ...pinned.listing.items] };
}

/** Servers of pins of which nothing was ever seen, and which may still come up. */
export function unseenServers(view: View, paths: readonly string[]): readonly ViewServer[] {
  return view.servers.filter(
    ({ slug, catalog, status }) =>
      catalog === undefined && status !== "disabled" && paths.some((path) => path.startsWith(`${slug}:`)),
  );
}

/** Tools whose paths are much like one that names none. */
export function nearPaths(view: View, path: string): readonly string[] {
  const paths = view.names.tools.map((tool) => tool.path);
  return nearestNames(path, paths, nearestShown);
}

function ownName(path: string): string {
  return path.slice(path.indexOf(":") + 1);
}

function hasOwnName(path: string, paths: readonly string[]): boolean {
  const name = ownName(path);
  const isAccepted = toClientName(name, path) === name && !isMetaTool(name);
  return isAccepted && paths.filter((other) => ownName(other) === name).length === 1;
}

function freeName(name: string, path: string, taken: ReadonlySet<string>): string {
  return taken.has(name) ? withHash(name, path, 8) : name;
}
