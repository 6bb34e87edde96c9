import * as z from "zod";
import { resolveCompletion, resolvePrompt } from "../../catalog/exposure/native.ts";
import { chooseServers } from "../../catalog/exposure/resource-list.ts";
import { toJsonBytes, type JsonObject } from "../../kernel/text/json-bytes.ts";
import { reading, usingServers } from "../../engine/policy/rights.ts";
import type { OriginalRequest } from "../../engine/perform/work.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { relayedFailure, toShown } from "./execute.ts";
import { answers, executing } from "../responses.ts";
import * as schemas from "../schemas.ts";
import { operation, type Operation } from "../operation.ts";
import { bytes } from "../reply.ts";
import { whileTracked } from "../request/tracked.ts";

const tag = "Tools and resources";

const promptList = z
  .object({
    prompts: z.array(
      z
        .object({
          name: z.string().describe("By which it is asked for here."),
          server: z.string(),
          title: z.string().optional(),
          description: z.string().optional(),
          arguments: z.array(schemas.json).optional(),
        })
        .catchall(z.unknown()),
    ),
  })
  .meta({ id: "PromptList" });

const promptArguments = z
  .object({ arguments: z.record(z.string().max(200), z.string()).optional() })
  .meta({ id: "PromptArguments" });

const promptMessages = z
  .object({ messages: z.array(schemas.json), description: z.string().optional() })
  .catchall(z.unknown())
  .meta({ id: "PromptMessages" });

const completionRequest = z
  .object({
    ref: z
      .object({
        type: z.enum(["ref/prompt", "ref/resource"]),
        name: z.string().max(4_096).optional().describe("Of a prompt, as it is listed."),
        uri: z.string().max(4_096).optional().describe("Of a template, as it is listed."),
      })
      .describe("What has the argument."),
    argument: z.object({ name: z.string().max(1_000), value: z.string().max(100_000) }),
    context: z.object({ arguments: z.record(z.string().max(200), z.string()) }).optional(),
  })
  .meta({ id: "CompletionRequest" });

const completion = z
  .object({
    completion: z
      .object({ values: z.array(z.string()), total: z.int().optional(), hasMore: z.boolean().optional() })
      .catchall(z.unknown()),
  })
  .catchall(z.unknown())
  .meta({ id: "Completion" });

export const listPrompts = operation({
  route: "GET /api/prompts",
  right: reading,
  query: z.object({ server: schemas.name.optional() }),
  id: "listPrompts",
  tag,
  summary: "Prompts of all servers",
  responses: answers(promptList, "All of them, under names that are unique here.", [404]),
  run(services, { principal, query: { server: only } }) {
    const view = services.viewOf(principal);
    const servers = chooseServers(view, only).filter(({ shown }) => shown);
    const prompts = servers.flatMap(({ slug, catalog }) =>
      (catalog?.prompts ?? []).map((prompt) => ({
        ...prompt.definition,
        name: view.names.promptName(prompt),
        server: slug,
      })),
    );
    return { prompts };
  },
});

const getPrompt = operation({
  route: "POST /api/prompts/{name}",
  right: usingServers,
  params: z.object({ name: schemas.name.describe("As the list gives it.") }),
  id: "getPrompt",
  tag,
  summary: "Have a server write a prompt",
  body: promptArguments,
  responses: answers(promptMessages, "The server's answer.", executing),
  async run(services, { principal, params, body, signal }) {
    const { arguments: given } = body;
    const view = services.viewOf(principal);
    const intent = resolvePrompt(view, params.name, given === undefined ? undefined : toJsonBytes(given));
    if (intent.kind !== "prompt") throw new GatewayError("PROMPT_UNKNOWN", "this is no prompt");
    return await whileTracked(services, { principal, signal }, async (context) => {
      const outcome = await services.performer.perform(intent, { context, view });
      if (outcome.kind === "error") throw relayedFailure(outcome.error, "PROMPT_UNKNOWN");
      return bytes(toShown(view, intent, outcome));
    });
  },
});

const complete = operation({
  route: "POST /api/complete",
  right: usingServers,
  id: "completeArgument",
  tag,
  summary: "What fits into an argument of a prompt, or of a template of resources",
  body: completionRequest,
  responses: answers(completion, "What the server proposes.", executing),
  async run(services, { principal, body, signal }) {
    const params = body;
    const view = services.viewOf(principal);
    const intent = resolveCompletion(view, params.ref);
    if (intent.kind !== "complete") throw new GatewayError("INTERNAL", "a completion was resolved to something else");
    return await whileTracked(services, { principal, signal }, async (context) => {
      const outcome = await services.performer.perform(intent, { context, view, request: toRequest(params) });
      if (outcome.kind === "error") throw relayedFailure(outcome.error, "PROMPT_UNKNOWN");
      return bytes(toShown(view, intent, outcome));
    });
  },
});

/** As an MCP client would have written it. */
function toRequest(params: JsonObject): OriginalRequest {
  return {
    method: "completion/complete",
    params,
    paramBytes: (key) => (params[key] === undefined ? undefined : toJsonBytes(params[key])),
  };
}

/** Prompts of all servers, and what fits into an argument of a prompt or of a resource's template. */
export const promptOperations: readonly Operation[] = [listPrompts, getPrompt, complete];
