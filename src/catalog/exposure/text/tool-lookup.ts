import { pinnedPrompt } from "../../model/pinned-texts.ts";
import type { Listing } from "../../model/names/names.ts";
import type { ToolEntry } from "../../model/snapshot.ts";
import { inProfile, type View, serverOf, type ViewServer } from "../../model/view.ts";
import type { CallArguments } from "../../../kernel/call/call-context.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { Intent } from "../intent.ts";
import { indexNames, nearestIn, type NameIndex } from "./suggestions.ts";
import type { FailureCode } from "../../../kernel/failures/failures.ts";
import type { InstanceId } from "../../../kernel/ids.ts";

/** How an exposure offers its tools. */
export interface Offer {
  readonly listing?: Listing;
  /** The tool's name in the exposure's own list. */
  readonly nameOf: (tool: ToolEntry) => string;
  /** Tells how to see what exists there. */
  readonly hint: string;
}

/**
 * As {@link resolveTool}, except that TOOL_UNKNOWN names what this exposure offers, because its client has no other
 * tools to look with.
 */
export function resolveOffered(
  view: View,
  spelling: string,
  given: CallArguments,
  offer: Offer,
): Extract<Intent, { kind: "call" }> {
  try {
    return resolveTool(view, spelling, given, offer.listing);
  } catch (error) {
    throw error instanceof GatewayError && error.code === "TOOL_UNKNOWN" ? inItsNames(error, view, offer) : error;
  }
}

function inItsNames(error: GatewayError, view: View, offer: Offer): GatewayError {
  const closest = error.data?.["closest"];
  const named = Array.isArray(closest)
    ? closest.flatMap((path) => view.names.tools.filter((tool) => tool.path === path).map(offer.nameOf))
    : undefined;
  return new GatewayError("TOOL_UNKNOWN", error.message, {
    data: { ...error.data, ...(named === undefined ? {} : { closest: named }) },
    cause: error,
    hint: offer.hint,
  });
}

const nearestShown = 5;
const toolsShown = 30;

/**
 * Finds the tool of a call, in any spelling (docs/design.md, "Names"). Throws TOOL_UNKNOWN with the closest paths, or
 * TOOL_AMBIGUOUS with all of them.
 */
export function resolveTool(
  view: View,
  spelling: string,
  given: CallArguments,
  listing?: Listing,
): Extract<Intent, { kind: "call" }> {
  const found = view.names.find(spelling, listing);
  switch (found.kind) {
    case "one":
      return toCall(view, found.tool, given);
    case "bare":
      return resolveBare(view, spelling, found.tool, given);
    case "several":
      throw new GatewayError(
        "TOOL_AMBIGUOUS",
        `${JSON.stringify(spelling.slice(0, 200))} is the name of ${found.tools.length} tools`,
        { data: { tool_paths: found.tools.map((tool) => tool.path) } },
      );
    case "none":
      throw unknownTool(view, spelling);
  }
}

/**
 * A bare name, which older clients use. `namespaceSupport` decides whether it is accepted. Throws TOOL_UNKNOWN where
 * it is not.
 */
export function resolveBare(
  view: View,
  spelling: string,
  tool: ToolEntry,
  given: CallArguments,
): Extract<Intent, { kind: "call" }> {
  const name = JSON.stringify(spelling.slice(0, 200));
  const rules = view.bareNames;
  if (!rules.legacySupport)
    throw new GatewayError("TOOL_UNKNOWN", `bare names such as ${name} are not accepted here: call ${tool.path}`, {
      data: { closest: [tool.path] },
    });
  const warning = rules.deprecationWarnings ? `The bare name ${name} is deprecated: call ${tool.path}.` : undefined;
  const { instance } = serverOf(view, tool);
  return { kind: "call", instance, tool, arguments: given, warning, bareName: spelling, migrated: rules.autoMigration };
}

/** A call of a tool of a view, by a name that needs no word about it. */
export function toCall(view: View, tool: ToolEntry, given: CallArguments): Extract<Intent, { kind: "call" }> {
  return { kind: "call", instance: serverOf(view, tool).instance, tool, arguments: given, warning: undefined };
}

/** Answers a call of a tool that waits for a person to look at its definition. */
export function heldTool({ slug }: Pick<ViewServer, "slug">, { path, held }: ToolEntry): GatewayError {
  return new GatewayError("DEFINITION_HELD", `${path} waits for a person to look at its definition: ${held}`, {
    hint: `A person has to look at it: \`toolyard definitions diff ${slug}\`, or the page of ${slug} in the dashboard.`,
  });
}

/** The failure of a request for a prompt that waits for a person; undefined for any other name. */
export function heldPrompt({ slug, catalog }: ViewServer, name: string): GatewayError | undefined {
  const key = pinnedPrompt(name);
  const texts = catalog?.heldTexts ?? {};
  if (!Object.hasOwn(texts, key)) return undefined;
  const about = `the prompt ${JSON.stringify(name.slice(0, 100))} of ${slug}`;
  return new GatewayError("DEFINITION_HELD", `${about} waits for a person to look at it: ${texts[key]}`);
}

/** The held tool of this name in any spelling. */
function findHeld(view: View, spelling: string): GatewayError | undefined {
  if (view.servers.every(({ held }) => held === undefined)) return undefined;
  const given = plainName(spelling);
  for (const server of view.servers) {
    const tool = heldBy(server).get(given);
    if (tool !== undefined) return heldTool(server, tool);
  }
  return undefined;
}

/** The held tool of one server that a name without the server means, but for case and separators. */
export function findHeldOf(server: ViewServer, name: string): ToolEntry | undefined {
  return server.held && heldBy(server).get(plainName(name));
}

/** Made at the first wrong name: a server may have ten thousand tools that are held. */
const heldByName = new WeakMap<readonly ToolEntry[], ReadonlyMap<string, ToolEntry>>();
const noneHeld: ReadonlyMap<string, ToolEntry> = new Map();

/** Held tools by each of their names, without case and separators; of several the first. */
function heldBy({ held, slug, namespace }: ViewServer): ReadonlyMap<string, ToolEntry> {
  if (held === undefined) return noneHeld;
  let names = heldByName.get(held);
  if (names === undefined) {
    const made = new Map<string, ToolEntry>();
    for (const tool of held) {
      const { upstreamName, path, definition } = tool;
      const spellings = [definition.name, path, upstreamName, `${slug}:${upstreamName}`];
      for (const one of [...spellings, `${namespace}:${definition.name}`].map(plainName))
        if (!made.has(one)) made.set(one, tool);
    }
    heldByName.set(held, (names = made));
  }
  return names;
}

/** Of a name that a peer may have made as long as a whole request. */
const longestName = 2_000;

function plainName(name: string): string {
  return name
    .slice(0, longestName)
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ");
}

function unknownTool(view: View, spelling: string): GatewayError {
  const held = findHeld(view, spelling);
  if (held !== undefined) return held;
  const server = ownerOf(view, spelling);
  const closest = nearestIn(spelling, view.servers.map(indexOf), nearestShown);
  const name = JSON.stringify(spelling.slice(0, 200));
  const profile = view.narrowing === undefined ? {} : { profile: view.narrowing.name };
  if (server === undefined)
    return new GatewayError("TOOL_UNKNOWN", `there is no tool ${name}${inProfile(view)}`, {
      data: { closest, ...profile },
    });
  if (server.catalog === undefined) return notKnownYet(server);
  const tools = server.tools.slice(0, toolsShown).map((tool) => tool.path);
  return new GatewayError("TOOL_UNKNOWN", `${server.slug} has no tool ${name}${inProfile(view)}`, {
    data: {
      ...{ closest, ...profile },
      tools_of_server: tools,
      ...(server.tools.length > toolsShown ? { tools_in_all: server.tools.length } : {}),
    },
  });
}

/** Made at the first wrong name: lists stay the same objects while nothing about them changes. */
const indexes = new WeakMap<readonly ToolEntry[], NameIndex>();

function indexOf({ tools }: ViewServer): NameIndex {
  let index = indexes.get(tools);
  if (index === undefined) indexes.set(tools, (index = indexNames(tools.map(({ path }) => path))));
  return index;
}

/**
 * The server that a name in one of the spellings belongs to. The names of tools that were never seen cannot be looked
 * up, so the longest matching slug decides.
 */
function ownerOf(view: View, spelling: string): ViewServer | undefined {
  const given = spelling.trim().toLowerCase();
  return view.servers
    .filter(({ slug }) => given.startsWith(slug.toLowerCase()) && separator.test(given.slice(slug.length)))
    .toSorted((one, other) => other.slug.length - one.slug.length)[0];
}

/** Separators between server and tool. */
const separator = /^(?:[:.|/-]|__|_1mcp_)./;

/**
 * The server exists, but its tools were never seen. The failure depends on the reason, because that decides what to
 * do.
 */
function notKnownYet({ slug, status, reason, advice, instance }: ViewServer): GatewayError {
  switch (status) {
    case "disabled":
      return new GatewayError("SERVER_DISABLED", `${slug} is disabled: ${reason}`);
    case "awaiting_user_config":
      return new GatewayError("SERVER_NEEDS_CONFIG", `${slug} needs values that you have not set: ${reason}`);
    case "requires_reauth":
      return new GatewayError("SERVER_NEEDS_LOGIN", `${slug} needs you to log in: ${reason}`, {
        hint: advice ?? `Run \`toolyard login ${slug}\`.`,
      });
    case "offline":
      return new UnseenServer(instance, "SERVER_OFFLINE", `${slug} does not answer: ${reason}`);
    case "error":
    case "permanently_failed":
      return new UnseenServer(instance, "SERVER_FAILED", `${slug} could not be started: ${reason}`);
    case "restarting":
      return new UnseenServer(instance, "SERVER_STARTING", `${slug} is being started again: ${reason}`);
    default:
      return new UnseenServer(instance, "SERVER_STARTING", `${slug} is starting and its tools are not known yet`);
  }
}

/** Thrown for a name of a server whose tools are still unknown. The tool may exist once the server is up. */
export class UnseenServer extends GatewayError {
  readonly instance: InstanceId;

  constructor(instance: InstanceId, code: FailureCode, message: string) {
    super(code, message);
    this.instance = instance;
  }
}
