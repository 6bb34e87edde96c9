import { isUnseen } from "../../catalog/exposure/discover/discover-text.ts";
import { resolveTool, UnseenServer } from "../../catalog/exposure/text/tool-lookup.ts";
import type { ViewServer } from "../../catalog/model/view.ts";
import { abortAfter } from "../../kernel/runtime/abort.ts";
import { noArguments } from "../../kernel/call/call-arguments.ts";
import type { CallContext } from "../../kernel/call/call-context.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { statusWord } from "../../kernel/failures/status-words.ts";
import { newestLegacyRevision } from "../../wire/mcp/revisions.ts";
import type { Conversation } from "./owner-conversation.ts";
import type { EverydayDeps } from "./everyday-deps.ts";
import type { ServerStanding } from "./everyday-lines.ts";

/**
 * How long a person waits for servers that have never been up: most start within this, and those that did are shown.
 */
const unseenWaitMs = 30_000;

/** The name in the records for a person who types commands. */
const clientName = "toolyard-cli";

const client: CallContext["client"] = Object.freeze({
  era: "legacy",
  revision: newestLegacyRevision,
  name: clientName,
  // Where there is no terminal the question is declined by the command, which can say so.
  capabilities: Object.freeze({ elicitation: Object.freeze({ form: Object.freeze({}), url: Object.freeze({}) }) }),
});

export function ownerContext(
  { principal }: Pick<EverydayDeps, "principal">,
  signal: AbortSignal,
  more?: Pick<CallContext, "onProgress" | "ask">,
): CallContext {
  return { principal, signal, client, via: "owner", waitedMs: 0, forProgram: true, ...more };
}

/** Waits for servers whose tools have not been seen yet, as they are after the first start of a gateway. */
export async function waitForUnseen(deps: EverydayDeps, { send, signal }: Conversation): Promise<void> {
  const waiting = deps.viewOf(deps.principal).servers.filter(isUnseen);
  if (waiting.length === 0) return;
  await send({ ok: true, waiting: waiting.map(({ slug }) => slug) });
  await deps.settled(deps.principal, abortAfter(unseenWaitMs, signal));
  signal.throwIfAborted();
}

/** Looks something up, once more when the server that may have it has come up. */
export async function findSeen<T>(
  deps: EverydayDeps,
  conversation: Conversation,
  find: () => T | Promise<T>,
): Promise<T> {
  try {
    return await find();
  } catch (error) {
    if (error instanceof UnseenServer) await deps.routing.wake(error.instance, conversation.signal);
    else if (isUnknown(error)) await waitForUnseen(deps, conversation);
    else throw error;
    return await find();
  }
}

/** Finds a tool by any spelling, as `findSeen` does. */
export async function findTool(
  deps: EverydayDeps,
  conversation: Conversation,
  name: string,
): Promise<ReturnType<typeof resolveTool>> {
  return await findSeen(deps, conversation, async () => {
    const view = deps.viewOf(deps.principal);
    await deps.namesInTurns(view, undefined, name);
    return resolveTool(view, name, noArguments);
  });
}

function isUnknown(error: unknown): boolean {
  return error instanceof GatewayError && (error.code === "TOOL_UNKNOWN" || error.code === "RESOURCE_UNKNOWN");
}

export function standingOf(server: ViewServer): ServerStanding {
  return { server: server.slug, status: server.status, word: statusWord(server) };
}
