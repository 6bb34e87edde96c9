import { offersSkills } from "../model/skill-extension.ts";
import { inProfile, serverOf, type View, type ViewServer } from "../model/view.ts";
import { isRawUri, parseResourceUri, toNativeTemplate, toNativeUri } from "../model/resource-uri.ts";
import type { Era } from "../../kernel/call/call-context.ts";
import { legacyTool } from "../../wire/mcp/shapes/definition-shapes.ts";
import { asciiJson } from "../../wire/json/ascii-json.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { isJsonObject, type JsonBytes, type JsonObject } from "../../kernel/text/json-bytes.ts";
import { parseKeptUri } from "./kept-uri.ts";
import { hasSkillFile, listedResources, skillItems } from "./skills/listed-skills.ts";
import { nearestNames } from "./text/suggestions.ts";
import { heldPrompt } from "./text/tool-lookup.ts";
import type { ListKind, Listing } from "./exposure.ts";
import type { Intent } from "./intent.ts";

/**
 * Resources, templates, prompts and completions of all servers, offered natively by every exposure that shows more
 * than one server: they cost the model nothing.
 */

/** Servers without a hint of their own: fresh for this long; list_changed tells sooner. */
const defaultTtlMs = 60_000;

/**
 * A list with its caching hints: the smallest ttl of the servers, and private if one of them is, or belongs to one
 * person.
 */
export function toListing(servers: readonly ViewServer[], items: readonly string[]): Listing {
  const ttls = servers.flatMap((server) => server.catalog?.ttlMs ?? []);
  const isPrivate = servers.some(
    (server) => server.catalog?.cacheScope === "private" || server.instance !== (server.slug as string),
  );
  return {
    items,
    ttlMs: ttls.length === 0 ? defaultTtlMs : Math.min(...ttls),
    cacheScope: isPrivate ? "private" : "public",
  };
}

/**
 * The resources, templates, prompts or skills of all servers, under addresses and names that are unique in the view.
 */
export function listNative(view: View, kind: Exclude<ListKind, "tools">): Listing {
  const shown = view.servers.filter((server) => server.shown && (kind !== "skills" || offersSkills(server.catalog)));
  return toListing(
    shown,
    shown.flatMap((server) => nativeItems(view, server, kind)),
  );
}

function nativeItems(view: View, server: ViewServer, kind: Exclude<ListKind, "tools">): string[] {
  const { catalog } = server;
  if (catalog === undefined) return [];
  switch (kind) {
    case "resources":
      return listedResources(catalog).map((definition) =>
        asciiJson({ ...definition, uri: toNativeUri(server.slug, definition.uri) }),
      );
    case "resourceTemplates":
      return catalog.templates.map(({ definition }) =>
        asciiJson({ ...definition, uriTemplate: toNativeTemplate(server.slug, definition.uriTemplate) }),
      );
    case "prompts":
      return catalog.prompts.map((prompt) => asciiJson({ ...prompt.definition, name: view.names.promptName(prompt) }));
    case "skills":
      return skillItems(server, catalog);
  }
}

/** Accepts every form of URI that is given out anywhere, and a server's own URI when exactly one server lists it. */
export function resolveRead(view: View, uri: string, as: "tool" | "native"): Intent {
  if (uri.length > longestUri) throw unknownResource(view, uri, as);
  const kept = parseKeptUri(uri);
  if (kept !== undefined) return { kind: "kept", ...kept, as };
  const address = parseResourceUri(uri);
  const named = address === undefined ? undefined : view.server(address.server);
  if (address !== undefined && named !== undefined) {
    // `ui://maps/app` may be the own URI of the server `maps`. Only its own: no other server may take over a request
    // addressed to it.
    const isOwn = !lists(named, address.uri) && lists(named, uri);
    if (isOwn) return { kind: "read", server: named, uri, as };
    return { kind: "read", server: named, uri: address.uri, as, ...(isRawUri(uri) ? { isRaw: true } : {}) };
  }
  const owners = view.servers.filter((server) => lists(server, uri));
  const [owner] = owners;
  if (owner !== undefined && owners.length === 1) return { kind: "read", server: owner, uri, as };
  if (owners.length > 1) {
    throw new GatewayError("RESOURCE_UNKNOWN", `${uri.slice(0, 200)} is listed by several servers`, {
      data: { uris: owners.map((server) => `${server.slug}|${uri}`) },
      hint: "Read one of the listed URIs.",
    });
  }
  throw unknownResource(view, uri, as);
}

/** In characters: taking a URI apart and comparing it with what servers list takes long for one of megabytes. */
const longestUri = 65_536;

function unknownResource(view: View, uri: string, as: "tool" | "native"): GatewayError {
  return new GatewayError("RESOURCE_UNKNOWN", `no server has the resource ${uri.slice(0, 200)}${inProfile(view)}`, {
    data: { uri: uri.slice(0, 200) },
    ...(as === "tool" ? { hint: "Call list_mcp_resources to see what exists." } : {}),
  });
}

function lists({ catalog }: ViewServer, uri: string): boolean {
  if (catalog === undefined) return false;
  return catalog.resources.some((resource) => resource.definition.uri === uri) || hasSkillFile(catalog, uri);
}

/** The intent of prompts/get. Throws when no server has a prompt of this name. */
export function resolvePrompt(view: View, name: string, given: JsonBytes | undefined): Intent {
  const prompt = view.names.findPrompt(name);
  if (prompt !== undefined)
    return { kind: "prompt", instance: serverOf(view, prompt).instance, prompt, arguments: given };
  for (const server of view.servers) {
    const held = heldPrompt(server, withoutServer(server, name));
    if (held !== undefined) throw held;
  }
  const known = view.servers
    .flatMap((server) => server.catalog?.prompts ?? [])
    .map((entry) => view.names.promptName(entry));
  throw new GatewayError("PROMPT_UNKNOWN", `there is no prompt ${JSON.stringify(name.slice(0, 100))}`, {
    data: { closest: nearestNames(name, known, 3) },
  });
}

/** A prompt's own name, where it is given with the server's before it. */
function withoutServer({ slug }: ViewServer, name: string): string {
  return name.startsWith(`${slug}-`) ? name.slice(slug.length + 1) : name;
}

/** The intent of completion/complete, with the reference in the server's own names. */
export function resolveCompletion(view: View, ref: JsonObject): Intent {
  if (ref["type"] === "ref/prompt" && typeof ref["name"] === "string") {
    const intent = resolvePrompt(view, ref["name"], undefined);
    if (intent.kind !== "prompt") throw new GatewayError("INTERNAL", "a prompt was resolved to something else");
    const server = view.server(intent.prompt.server);
    if (server !== undefined) return { kind: "complete", server, ref: { ...ref, name: intent.prompt.definition.name } };
  }
  if (ref["type"] === "ref/resource" && typeof ref["uri"] === "string") {
    const address = parseTemplateUri(view, ref["uri"]);
    if (address !== undefined) return { kind: "complete", server: address.server, ref: { ...ref, uri: address.uri } };
  }
  throw new GatewayError(
    "PARAMS_INVALID",
    "the ref of completion/complete names neither a prompt nor a resource template that exists here",
  );
}

/** A template is found by its listed spelling, because its expressions must not be decoded. */
function parseTemplateUri(view: View, uri: string): { server: ViewServer; uri: string } | undefined {
  for (const server of view.servers) {
    for (const { definition } of server.catalog?.templates ?? []) {
      if (
        toNativeTemplate(server.slug, definition.uriTemplate) === uri ||
        `${server.slug}|${definition.uriTemplate}` === uri
      )
        return { server, uri: definition.uriTemplate };
    }
  }
  const address = parseResourceUri(uri);
  const server = address === undefined ? undefined : view.server(address.server);
  return address === undefined || server === undefined ? undefined : { server, uri: address.uri };
}

/** A tool's definition under another name, with the URI of its UI in the form that can be read here (MCP Apps). */
export function toListedTool(definition: JsonObject, name: string, server: ViewServer): string {
  const meta = definition["_meta"];
  return asciiJson({ ...definition, name, ...(isJsonObject(meta) ? { _meta: withNativeUi(meta, server) } : {}) });
}

/** A definition as readers of an era can read it; of all eras where none is given. */
export function toolFor<T extends JsonObject>(era: Era | undefined, definition: T): T {
  return era === "legacy" ? legacyTool(definition) : definition;
}

function withNativeUi(meta: JsonObject, server: ViewServer): JsonObject {
  const ui = meta["ui"];
  const flat = meta["ui/resourceUri"];
  return {
    ...meta,
    ...(isJsonObject(ui) && typeof ui["resourceUri"] === "string"
      ? { ui: { ...ui, resourceUri: toNativeUri(server.slug, ui["resourceUri"]) } }
      : {}),
    ...(typeof flat === "string" ? { "ui/resourceUri": toNativeUri(server.slug, flat) } : {}),
  };
}

/**
 * What skills/get or resources/directory/read is about: passed on to the server whose address is named, whether or
 * not it lists the skill. Throws PARAMS_INVALID (-32602) where no server that offers skills is meant.
 */
export function resolveSkill(view: View, uri: string): Intent {
  const intent = meantBy(view, uri);
  if (intent?.kind !== "read" || !offersSkills(intent.server.catalog))
    throw new GatewayError("PARAMS_INVALID", `no server has the skill ${uri.slice(0, 200)}`, {
      data: { uri: uri.slice(0, 200) },
      hint: "Name a skill by the uri that skills/list gives.",
    });
  return { kind: "forward", server: intent.server, uri: intent.uri };
}

function meantBy(view: View, uri: string): Intent | undefined {
  try {
    return resolveRead(view, uri, "native");
  } catch (error) {
    if (error instanceof GatewayError && error.code === "RESOURCE_UNKNOWN") return undefined;
    throw error;
  }
}
