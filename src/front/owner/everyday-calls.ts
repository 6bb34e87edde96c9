import { resolveRead } from "../../catalog/exposure/native.ts";
import { noArguments, type CallArguments } from "../../kernel/call/call-arguments.ts";
import type { Answer, Question } from "../../kernel/call/call-context.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { isJsonObject, parseJsonObject, type JsonBytes, type JsonObject } from "../../kernel/text/json-bytes.ts";
import { stringifyExact } from "../../wire/json/exact-json.ts";
import { relayedFailure, toShown } from "../../operations/tools/execute.ts";
import { parseJsonBody } from "../../operations/json-body.ts";
import type { Conversation } from "./owner-conversation.ts";
import type { EverydayDeps } from "./everyday-deps.ts";
import { findSeen, findTool, ownerContext } from "./everyday-view.ts";

/**
 * `{ name, arguments? }`: calls a tool by any spelling of its name. The arguments are a JSON text, whose bytes are
 * given to the server.
 */
export async function callTool(deps: EverydayDeps, request: JsonObject, conversation: Conversation): Promise<void> {
  const { signal, send } = conversation;
  const given = readArguments(request["arguments"], deps.jsonDepth);
  const name = textOf(request, "name");
  const found = await findTool(deps, conversation, name);
  const view = deps.viewOf(deps.principal);
  const context = ownerContext(deps, signal, {
    onProgress: (progress) => void send({ ok: true, progress }).catch(() => undefined),
    ask: createAsk(conversation),
  });
  const outcome = await deps.performer.perform({ ...found, arguments: given }, { view, context });
  if (outcome.kind === "error") throw relayedFailure(outcome.error, "TOOL_UNKNOWN");
  const { instance, tool, warning } = found;
  // The warning has a place of its own here: the result stays the server's.
  const plain = { kind: "call", instance, tool, arguments: given, warning: undefined } as const;
  await send({
    ok: true,
    result: { json: toText(toShown(view, plain, outcome)), ...(warning === undefined ? {} : { warning }) },
  });
}

/** `{ uri }`: reads a resource by any form of its URI. */
export async function readOne(deps: EverydayDeps, request: JsonObject, conversation: Conversation): Promise<void> {
  const uri = textOf(request, "uri");
  const intent = await findSeen(deps, conversation, () => resolveRead(deps.viewOf(deps.principal), uri, "native"));
  const work = { view: deps.viewOf(deps.principal), context: ownerContext(deps, conversation.signal) };
  if (intent.kind === "kept") {
    const { result } = await deps.performer.perform(intent, work);
    await conversation.send({ ok: true, result: { json: stringifyExact(result) } });
    return;
  }
  if (intent.kind !== "read") throw new GatewayError("RESOURCE_UNKNOWN", "this is no resource");
  const outcome = await deps.performer.perform(intent, work);
  if (outcome.kind === "error") throw relayedFailure(outcome.error, "RESOURCE_UNKNOWN");
  await conversation.send({ ok: true, result: { json: toText(toShown(work.view, intent, outcome)) } });
}

function toText(bytes: JsonBytes): string {
  return bytes.toString("utf8");
}

/** Puts a server's questions to the person, one after the other. */
function createAsk({ send, next }: Conversation): (question: Question, signal: AbortSignal) => Promise<Answer> {
  let last: Promise<unknown> = Promise.resolve();
  const ask = async ({ method, params }: Question): Promise<Answer> => {
    const asked: unknown = JSON.parse(params.toString("utf8"));
    await send({ ok: true, question: { method, params: isJsonObject(asked) ? asked : {} } });
    const line = await next();
    const told: unknown = line === undefined ? undefined : JSON.parse(line);
    const answer = isJsonObject(told) && typeof told["answer"] === "string" ? Buffer.from(told["answer"]) : undefined;
    if (answer === undefined || parseJsonObject(answer) === undefined)
      throw new GatewayError("CLIENT_CANNOT_ANSWER", "nobody answered the question");
    return { kind: "result", result: answer };
  };
  return async (question) => {
    const asking = last.then(async () => await ask(question));
    last = asking.catch(() => undefined);
    return await asking;
  };
}

/** Throws what `parseJsonBody` throws. */
function readArguments(text: unknown, maxDepth: number): CallArguments {
  if (typeof text !== "string") return noArguments;
  const bytes = Buffer.from(text, "utf8");
  return { bytes, value: parseJsonBody(bytes, maxDepth).value };
}

function textOf(request: JsonObject, key: string): string {
  const value = request[key];
  if (typeof value !== "string" || value === "") throw new GatewayError("REQUEST_INVALID", `${key} is missing`);
  return value;
}
