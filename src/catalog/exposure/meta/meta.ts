import type { View } from "../../model/view.ts";
import { toNativeUri } from "../../model/resource-uri.ts";
import { asciiJson } from "../../../wire/json/ascii-json.ts";
import { findMember, scanElements, scanFor, scanMembers } from "../../../wire/json/json-scan.ts";
import { areNone, noArguments, toCallArguments, type CallArguments } from "../../../kernel/call/call-context.ts";
import { isJsonObject, type JsonBytes, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import type { ServerSlug } from "../../../kernel/ids.ts";
import type { ResultBytes } from "../../../wire/mcp/result-bytes.ts";
import type { Exposure, Listing, PinnedTools, Reader } from "../exposure.ts";
import type { ExposureRequest, Intent } from "../intent.ts";
import { rewriteContents, rewriteLinks, rewriteSkill } from "../text/links.ts";
import { invalid, readDiscoverArguments, readListArguments, readUriArgument } from "./meta-arguments.ts";
import { withMetaEntries } from "../../../wire/json/spliced-json.ts";
import { callingTools, isMetaTool, toolsFor, type MetaToolName } from "./meta-tools.ts";
import { listNative, resolveCompletion, resolvePrompt, resolveRead } from "../native.ts";
import { withPinned } from "../pinned-tools.ts";
import { resolveOffered, type Offer } from "../text/tool-lookup.ts";
import { serverTexts } from "../text/server-texts.ts";

/** Long, because only what they say of the servers may change, and the old text finds as much. */
const toolsTtlMs = 3_600_000;
const argumentDepth = 100;

const byPath: Offer = {
  nameOf: (tool) => tool.path,
  hint: "Call discover_mcp_tools to see what exists.",
};

/** The default: four tools instead of hundreds of definitions (docs/design.md, "The four tools"). */
export const metaExposure: Exposure = Object.freeze({
  name: "meta",
  toolsChange: false,
  toolsByClient: true,
  hasPins: true,
  list: (view, kind, reader) =>
    kind === "tools" ? withPinned(listTools(view, reader), reader?.pinned) : listNative(view, kind),
  resolve: resolveMeta,
  render: renderShared,
  toUri: (server, uri) => toNativeUri(server as ServerSlug, uri),
  instructions: (view) => serverTexts(view).instructions,
  told: serverTexts,
  isTransparent: false,
  transparent: () => undefined,
} satisfies Exposure);

/** It names the servers of one caller, and differs by client: no cache may give it to others. */
function listTools(view: View, { client, told = serverTexts(view) }: Reader = {}): Listing {
  return {
    items: toolsFor(client, told).map((tool) => asciiJson(tool)),
    ttlMs: toolsTtlMs,
    cacheScope: "private",
  };
}

function resolveMeta(view: View, request: ExposureRequest, pinned?: PinnedTools): Intent {
  switch (request.method) {
    case "tools/call": {
      const { name } = request;
      // Checked first, so that no server's tool can shadow one of the four (fault 57).
      return isMetaTool(name)
        ? resolveMetaTool(view, name, request.arguments)
        : resolveOffered(view, pinned?.paths.get(name) ?? name, request.arguments, byPath);
    }
    case "resources/read":
      return resolveRead(view, request.uri, "native");
    case "prompts/get":
      return resolvePrompt(view, request.name, request.arguments);
    case "completion/complete":
      return resolveCompletion(view, request.ref);
  }
}

function resolveMetaTool(view: View, name: MetaToolName, given: CallArguments): Intent {
  if (!isJsonObject(given.value)) throw invalid("arguments", "must be an object");
  switch (name) {
    case callingTools.all:
      return resolveExecute(view, given.bytes, given.value);
    case callingTools.readOnly:
      return { ...resolveExecute(view, given.bytes, given.value), readOnly: true };
    case "discover_mcp_tools":
      return { kind: "discover", request: readDiscoverArguments(given.value) };
    case "list_mcp_resources":
      return readListArguments(given.value);
    case "read_mcp_resource":
      return resolveRead(view, readUriArgument(given.value), "tool");
  }
}

/** The inner arguments are cut out as bytes and go to the server as the client wrote them. */
function resolveExecute(
  view: View,
  bytes: JsonBytes | undefined,
  value: JsonObject,
): Extract<Intent, { kind: "call" }> {
  const toolPath = value["tool_path"];
  if (typeof toolPath !== "string" || toolPath === "")
    throw invalid("tool_path", "is required and must be a string such as server:tool");
  const inner = bytes === undefined ? undefined : scanFor(bytes, 0, bytes.length, argumentDepth, "arguments");
  if (bytes === undefined || inner === undefined) return resolveOffered(view, toolPath, noArguments, byPath);
  const given = innerArguments(bytes.subarray(inner.start, inner.end), value["arguments"]);
  return resolveOffered(view, toolPath, given, byPath);
}

/**
 * Some models write the arguments as a string of JSON, or null, an empty list or an empty string for none. What they
 * mean is clear, so that it is accepted.
 */
function innerArguments(bytes: JsonBytes, value: unknown): CallArguments {
  if (areNone(value)) return noArguments;
  if (typeof value !== "string") return { bytes, value };
  const text = value.trim();
  if (text === "") return noArguments;
  try {
    const written = toCallArguments(Buffer.from(text, "utf8"));
    if (areNone(written.value)) return noArguments;
    return isJsonObject(written.value) ? written : { bytes, value };
  } catch {
    return { bytes, value };
  }
}

/** What every exposure of several servers does with a server's result. */
export function renderShared(_view: View, intent: Intent, result: ResultBytes): ResultBytes {
  switch (intent.kind) {
    case "call":
      return withNotes(rewriteLinks(result, intent.tool.server), intent);
    case "prompt":
      return rewriteLinks(result, intent.prompt.server);
    case "read":
      return result.with(toRead(rewriteContents(result.bytes, intent.server.slug, intent.isRaw), intent.as));
    case "forward":
      return intent.uri === undefined ? result : result.with(rewriteSkill(result.bytes, intent.server.slug));
    case "discover":
    case "list-resources":
    case "list-namespace":
    case "complete":
    case "kept":
    case "answer":
      return result;
  }
}

/** Notes go into `_meta`, where no reader expects anything else: content and structured content stay the server's. */
function withNotes(result: ResultBytes, intent: Extract<Intent, { kind: "call" }>): ResultBytes {
  if (intent.warning === undefined && intent.migrated !== true) return result;
  const notes = {
    ...(intent.warning === undefined ? {} : { "toolyard/warning": intent.warning }),
    ...(intent.migrated === true ? { "toolyard/tool_path": intent.tool.path } : {}),
  };
  return result.with(withMetaEntries(result.bytes, notes));
}

function toRead(result: JsonBytes, as: "tool" | "native"): JsonBytes {
  return as === "native" ? result : toEmbedded(result);
}

/** A read as a tool's result: each content becomes an embedded resource, its bytes unchanged. */
function toEmbedded(result: JsonBytes): JsonBytes {
  const members = scanMembers(result, 0, result.length, argumentDepth * 10);
  const contents = findMember(members, "contents");
  const meta = findMember(members, "_meta");
  const items = contents === undefined ? [] : splitElements(result, contents.start, contents.end);
  const pieces: Buffer[] = [Buffer.from('{"content":[', "latin1")];
  for (const [index, item] of items.entries()) {
    pieces.push(
      Buffer.from(`${index > 0 ? "," : ""}{"type":"resource","resource":`, "latin1"),
      item,
      Buffer.from("}", "latin1"),
    );
  }
  pieces.push(Buffer.from("]", "latin1"));
  if (meta !== undefined) pieces.push(Buffer.from(',"_meta":', "latin1"), result.subarray(meta.start, meta.end));
  pieces.push(Buffer.from("}", "latin1"));
  return Buffer.concat(pieces);
}

function splitElements(bytes: Buffer, start: number, end: number): Buffer[] {
  return scanElements(bytes, start, end, argumentDepth * 10, 100_000).map((span) =>
    bytes.subarray(span.start, span.end),
  );
}
