import { isUnseen } from "../../catalog/exposure/discover/discover-text.ts";
import { toListedTool } from "../../catalog/exposure/native.ts";
import { nearPaths, readPins } from "../../catalog/exposure/pinned-tools.ts";
import { chooseServers } from "../../catalog/exposure/resource-list.ts";
import { toSignature } from "../../catalog/exposure/text/signature.ts";
import { estimateTokens } from "../../catalog/exposure/text/token-estimate.ts";
import type { ToolEntry } from "../../catalog/model/snapshot.ts";
import { serverOf, type View, type ViewServer } from "../../catalog/model/view.ts";
import { abortAfter, untilAborted } from "../../kernel/runtime/abort.ts";
import { isJsonObject, type JsonObject } from "../../kernel/text/json-bytes.ts";
import { statusWord } from "../../kernel/failures/status-words.ts";
import { stringifyExact } from "../../wire/json/exact-json.ts";
import type { Conversation } from "./owner-conversation.ts";
import type { EverydayDeps } from "./everyday-deps.ts";
import type { ResourceLine, ServerDetailsLine, ToolDetailsLine, ToolLine, ToolUse } from "./everyday-lines.ts";
import { findTool, ownerContext, standingOf, waitForUnseen } from "./everyday-view.ts";

const signatureTokens = 160;
const dayMs = 86_400_000;

/** `{ server?, match? }`: the tools that a call can reach, by server. */
export async function listTools(deps: EverydayDeps, request: JsonObject, conversation: Conversation): Promise<void> {
  await waitForUnseen(deps, conversation);
  const view = deps.viewOf(deps.principal);
  await deps.namesInTurns(view, "flat");
  const servers = chooseServers(view, optionalText(request, "server"));
  const matches = matcherOf(request);
  for (const server of servers.filter(({ shown }) => shown))
    for (const tool of server.tools) {
      const line = toToolLine(view, server, tool);
      if (matches([line.path, line.title, line.description])) await conversation.send({ ok: true, tool: line });
    }
  await tellMissing(servers, conversation);
  if (optionalText(request, "server") === undefined) await tellPinned(deps, view, conversation);
}

async function tellPinned({ pins, principal }: EverydayDeps, view: View, { send }: Conversation): Promise<void> {
  const { paths } = await pins.of(principal);
  for (const { path, found } of readPins(view, paths)) {
    const tokens =
      found === undefined ? 0 : estimateTokens(toListedTool(found.tool.definition, found.name, found.server));
    const near = found === undefined ? nearPaths(view, path) : [];
    await send({ ok: true, pinned: { path, name: found?.name ?? null, tokens, near } });
  }
}

/**
 * `{ name, brief? }`: everything that is known of one server, by its slug, or of one tool, by any spelling of its name.
 * `brief` asks for a tool only, and leaves out what has to be looked up, for a command that only needs to know what the
 * tool takes.
 */
export async function showTool(deps: EverydayDeps, request: JsonObject, conversation: Conversation): Promise<void> {
  const name = optionalText(request, "name") ?? "";
  const named = request["brief"] === true ? undefined : deps.viewOf(deps.principal).server(name);
  if (named !== undefined) {
    await conversation.send({ ok: true, serverDetails: toServerDetails(deps, named) });
    return;
  }
  const { tool } = await findTool(deps, conversation, name);
  const view = deps.viewOf(deps.principal);
  for (const listing of ["flat", "namespaced"] as const) await deps.namesInTurns(view, listing);
  const server = serverOf(view, tool);
  const isBrief = request["brief"] === true;
  const details: ToolDetailsLine = {
    ...toToolLine(view, server, tool),
    reason: server.reason,
    spellings: [
      view.names.flatName(tool),
      view.names.namespacedName(tool),
      `${server.namespace}.${tool.definition.name}`,
    ],
    phrases: isBrief ? [] : await deps.discovery.phrasesOf(tool),
    use: isBrief ? null : await readUse(deps, tool, conversation.signal),
    definition: stringifyExact(tool.definition),
    inputSchema: tool.definition.inputSchema,
  };
  await conversation.send({ ok: true, details });
}

function toServerDetails({ instanceOf, redact }: EverydayDeps, server: ViewServer): ServerDetailsLine {
  const { catalog, tools } = server;
  const instance = instanceOf(server.instance);
  const version = catalog?.serverInfo["version"];
  return {
    ...standingOf(server),
    title: server.title,
    reason: redact(server.reason),
    version: typeof version === "string" ? redact(version) : null,
    eras: catalog?.eras ?? [],
    tools: tools.length,
    resources: (catalog?.resources.length ?? 0) + (catalog?.templates.length ?? 0),
    prompts: catalog?.prompts.length ?? 0,
    handshake: (instance?.handshake ?? []).map((failed) => ({ ...failed, why: redact(failed.why) })),
    oddities: instance?.oddities.sentences().map(redact) ?? [],
  };
}

/** A store of records that does not answer must not hold back the rest. */
const useWaitMs = 2_000;

/** Calls of the last 24 hours; null where that cannot be told. */
async function readUse(
  { usage, clock }: EverydayDeps,
  { path }: ToolEntry,
  signal: AbortSignal,
): Promise<ToolUse | null> {
  const now = clock.now();
  const reading = usage.read({ fromMs: now - dayMs, toMs: now, by: [], tool: path, limit: 1 });
  const answer = await untilAborted(reading, abortAfter(useWaitMs, signal)).catch(() => undefined);
  signal.throwIfAborted();
  if (answer === undefined) return null;
  return {
    calls: answer.sums.reduce((sum, { calls }) => sum + calls, 0),
    errors: answer.sums.reduce((sum, { errors }) => sum + errors, 0),
  };
}

/** `{ server?, match? }`: resources, then templates, with URIs as `read` takes them. */
export async function listResources(
  deps: EverydayDeps,
  request: JsonObject,
  conversation: Conversation,
): Promise<void> {
  await waitForUnseen(deps, conversation);
  const server = optionalText(request, "server");
  const query = optionalText(request, "match");
  const work = { view: deps.viewOf(deps.principal), context: ownerContext(deps, conversation.signal) };
  for (let cursor: string | undefined; ;) {
    const { list } = await deps.performer.perform({ kind: "list-resources", server, query, cursor }, work);
    for (const [kind, key] of kinds)
      for (const definition of list[key] as readonly JsonObject[])
        await conversation.send({ ok: true, resource: toResourceLine(kind, definition) });
    if (typeof list["nextCursor"] !== "string") break;
    cursor = list["nextCursor"];
  }
  await tellMissing(chooseServers(work.view, server), conversation);
}

const kinds = [
  ["resource", "resources"],
  ["template", "resource_templates"],
] as const;

/** `{ server?, match? }` */
export async function listPrompts(deps: EverydayDeps, request: JsonObject, conversation: Conversation): Promise<void> {
  await waitForUnseen(deps, conversation);
  const view = deps.viewOf(deps.principal);
  const servers = chooseServers(view, optionalText(request, "server"));
  const matches = matcherOf(request);
  for (const server of servers.filter(({ shown }) => shown))
    for (const prompt of server.catalog?.prompts ?? []) {
      const name = view.names.promptName(prompt);
      const description = textIn(prompt.definition, "description");
      if (!matches([name, description])) continue;
      const definition = stringifyExact({ ...prompt.definition, name });
      const given = argumentsOf(prompt.definition);
      await conversation.send({
        ok: true,
        prompt: { server: server.slug, name, description, arguments: given, definition },
      });
    }
  await tellMissing(servers, conversation);
}

function toToolLine(view: View, server: ViewServer, tool: ToolEntry): ToolLine {
  const { title, description, inputSchema, annotations } = tool.definition;
  return {
    ...standingOf(server),
    path: tool.path,
    title: title ?? annotations?.title ?? null,
    description: description ?? null,
    input: toSignature(inputSchema, { maxTokens: signatureTokens }).text,
    annotations: annotations ?? {},
    tokens: estimateTokens(toListedTool(tool.definition, view.names.flatName(tool), server)),
  };
}

function toResourceLine(kind: ResourceLine["kind"], definition: JsonObject): ResourceLine {
  return {
    kind,
    server: textIn(definition, "server_name") ?? "",
    uri: textIn(definition, kind === "resource" ? "uri" : "uriTemplate") ?? "",
    name: textIn(definition, "title") ?? textIn(definition, "name"),
    mimeType: textIn(definition, "mimeType"),
    description: textIn(definition, "description"),
    definition: stringifyExact(definition),
  };
}

function argumentsOf(definition: JsonObject): readonly { readonly name: string; readonly required: boolean }[] {
  const { arguments: given } = definition;
  if (!Array.isArray(given)) return [];
  return given.filter(isJsonObject).map((one) => ({ name: String(one["name"]), required: one["required"] === true }));
}

/** Names the servers whose things are not in a list, except those that somebody switched off or stopped. */
async function tellMissing(servers: readonly ViewServer[], { send }: Conversation): Promise<void> {
  for (const server of servers) {
    if (server.status === "disabled" && server.step !== "correct" && servers.length > 1) continue;
    if (server.shown && !isUnseen(server)) continue;
    const { slug, reason } = server;
    await send({ ok: true, missing: { server: slug, word: statusWord(server), reason } });
  }
}

/** Whether every word that was given occurs in one of the texts, ignoring case. */
function matcherOf(request: JsonObject): (texts: readonly (string | null)[]) => boolean {
  const words = (optionalText(request, "match") ?? "").toLowerCase().split(/\s+/);
  return (texts) => {
    const text = texts.join("\n").toLowerCase();
    return words.every((word) => text.includes(word));
  };
}

function optionalText(request: JsonObject, key: string): string | undefined {
  return textIn(request, key) ?? undefined;
}

function textIn(given: JsonObject, key: string): string | null {
  const value = given[key];
  return typeof value === "string" && value !== "" ? value : null;
}
