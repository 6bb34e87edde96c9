import { withLossTold } from "../../catalog/exposure/meta/restart-notice.ts";
import { renderShared } from "../../catalog/exposure/meta/meta.ts";
import { readDiscoverArguments } from "../../catalog/exposure/meta/meta-arguments.ts";
import { resolveTool, UnseenServer } from "../../catalog/exposure/text/tool-lookup.ts";
import type { ToolEntry } from "../../catalog/model/snapshot.ts";
import type { CallContext } from "../../kernel/call/call-context.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { toJsonBytes, type JsonObject } from "../../kernel/text/json-bytes.ts";
import type { Principal } from "../../kernel/principal.ts";
import { parseErrorObject, rpcCodes } from "../../wire/mcp/error-object.ts";
import { newestLegacyRevision } from "../../wire/mcp/revisions.ts";
import type {
  CallOptions,
  CallResult,
  FoundTool,
  Progress,
  SearchOptions,
  ServerStatus,
  Tool,
} from "./embedding-types.ts";
import type { GatewayParts } from "../gateway-parts.ts";

/**
 * Searches and calls of the program that the gateway runs in, as its owner. They use neither HTTP nor text that would
 * have to be parsed again.
 */
export interface InProcess {
  servers(): readonly ServerStatus[];
  tools(): readonly Tool[];
  search(query: string, options?: SearchOptions): Promise<readonly FoundTool[]>;
  call(tool: string, args?: object, options?: CallOptions): Promise<CallResult>;
}

type Parts = Pick<GatewayParts, "viewOf" | "namesInTurns" | "owner" | "performer" | "routing">;

/** Builds what a program uses to search and call tools of a gateway in the same process. */
export function createInProcess(parts: Parts): InProcess {
  const { owner } = parts;

  async function search(query: string, options: SearchOptions = {}): Promise<readonly FoundTool[]> {
    const { signal = never, ...given } = options;
    signal.throwIfAborted();
    const request = readDiscoverArguments({ query, ...given });
    const work = { view: parts.viewOf(owner), context: toContext(owner, signal) };
    const found = await parts.performer.perform({ kind: "discover", request }, work);
    if (found.kind === "servers") return [];
    if (found.search === undefined) throw new GatewayError("SEARCH_FAILED", found.failed ?? "the search failed");
    return found.search.needs.flatMap(({ hits }) =>
      hits.map(({ tool, distance }) => ({ ...toTool(tool), relevance: 1 - distance })),
    );
  }

  async function call(name: string, args: object = {}, options: CallOptions = {}): Promise<CallResult> {
    const { signal = never, onProgress } = options;
    signal.throwIfAborted();
    const intent = await resolve(name, args, signal);
    const view = parts.viewOf(owner);
    const context: CallContext = {
      ...toContext(owner, signal),
      ...(onProgress === undefined ? {} : { onProgress: (params) => onProgress(params as unknown as Progress) }),
    };
    const outcome = await parts.performer.perform(intent, { view, context });
    if (outcome.kind === "error") throw toFailure(parseErrorObject(outcome.error));
    const shown = renderShared(view, intent, outcome.result);
    const told = withLossTold(shown, { reason: outcome.loss, intent, forModel: true });
    return told.parsed() as unknown as CallResult;
  }

  /** A server whose tools are still unknown is started, because then they are known. */
  async function resolve(name: string, args: object, signal: AbortSignal): Promise<ReturnType<typeof resolveTool>> {
    // JavaScript may pass null.
    const value = ((args as unknown) ?? {}) as JsonObject;
    const read = () => resolveTool(parts.viewOf(owner), name, { bytes: toJsonBytes(value), value });
    const makeNames = () => parts.namesInTurns(parts.viewOf(owner), undefined, name);
    try {
      const making = makeNames();
      if (making !== undefined) await making;
      return read();
    } catch (error) {
      if (!(error instanceof UnseenServer)) throw error;
      await parts.routing.wake(error.instance, signal);
      await makeNames();
      return read();
    }
  }

  return {
    tools: () =>
      parts.viewOf(owner).servers.flatMap((server) => (server.shown ? server.tools.map((tool) => toTool(tool)) : [])),
    servers: () =>
      parts.viewOf(owner).servers.map(({ slug, title, status, dormant, reason, shown, tools }) => ({
        name: slug,
        title,
        status,
        dormant,
        reason,
        tools: shown ? tools.length : 0,
      })),
    search,
    call,
  };
}

const never = new AbortController().signal;

function toContext(principal: Principal, signal: AbortSignal): CallContext {
  return { principal, signal, client, via: "process", waitedMs: 0, forProgram: true };
}

/** Cannot be asked questions: a program that wants to answer them has to be a client over MCP. */
const client: CallContext["client"] = Object.freeze({
  era: "legacy",
  revision: newestLegacyRevision,
  capabilities: Object.freeze({}),
});

function toTool({ path, server, definition }: ToolEntry): Tool {
  const { name, title, description, inputSchema, outputSchema, annotations } = definition;
  return { path, server, name, title, description, inputSchema, outputSchema, annotations };
}

function toFailure({ code, message }: { readonly code: number; readonly message: string }): GatewayError {
  return new GatewayError(
    code === rpcCodes.invalidParams ? "PARAMS_INVALID" : "UPSTREAM_PROTOCOL",
    `the server answered: ${message.slice(0, 500)}`,
    { data: { server_code: code } },
  );
}
