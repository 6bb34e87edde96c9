import * as z from "zod";
import { nearPaths, readPins } from "../../catalog/exposure/pinned-tools.ts";
import { mostPins, parsePins, type PinChoice } from "../../config/rows/pin-row.ts";
import { ownRecords, ownWork } from "../../engine/policy/rights.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Principal } from "../../kernel/principal.ts";
import { jsonAnswer, type Answer } from "./answer.ts";
import type { RestDeps } from "./deps.ts";
import { checkPart } from "./part-check.ts";
import { noStore } from "./people-request.ts";
import { answers } from "./responses.ts";
import { route, type Route } from "./route.ts";
import * as schemas from "./schemas.ts";

const tag = "Tools and resources";

const choice = z.union([z.literal("auto"), z.array(z.string()).max(mostPins)]);
const words = "`auto`: the tools that you used in most sessions. Otherwise paths of tools, in the order of the list.";

const pinsBody = z.strictObject({ pins: choice.describe(words) }).meta({ id: "PinsToChoose" });

const pinList = z
  .object({
    own: choice.nullable().describe("What you chose; null where that of the configuration holds."),
    configured: choice.describe("For all who chose nothing (`pin`)."),
    most: z.int(),
    tools: z.array(
      z.object({
        tool_path: z.string(),
        name: schemas.nullableText.describe(
          "In the list of `/mcp`; null where it is not in it: no such tool is there.",
        ),
        tokens: z.int().nullable().describe("What its definition costs in each conversation."),
        near: z.array(z.string()).describe("Of a path that names no tool: paths that are much like it."),
      }),
    ),
    tokens: z.int().describe("Of all of them."),
  })
  .meta({ id: "PinList" });

/** Tools that stand in the list of `/mcp` beside the four: each person chooses their own. */
export function createPinRoutes(deps: RestDeps): readonly Route[] {
  return [showPins(deps), choosePins(deps), resetPins(deps)];
}

function showPins(deps: RestDeps): Route {
  return route({
    method: "GET",
    path: "/api/pins",
    right: ownRecords,
    operation: {
      id: "listPins",
      tag,
      summary: "The tools that your clients see beside the four",
      responses: answers(pinList, "With what each costs. Open sessions keep what they were told.", [503]),
    },
    handle: async ({ principal }) => await toAnswer(deps, principal),
  });
}

function choosePins(deps: RestDeps): Route {
  return route({
    method: "PUT",
    path: "/api/pins",
    right: ownWork,
    operation: {
      id: "choosePins",
      tag,
      summary: "Pin tools for yourself",
      description:
        "They stand in the list of `/mcp` as tools of their own. A path that names no tool is kept, and shown as unused.",
      body: pinsBody,
      responses: answers(pinList, "What is pinned now, for new sessions.", [413, 415, 503]),
    },
    async handle({ principal, body }) {
      const pins = parsePins(checkPart(pinsBody, "body", body).pins);
      if (pins === undefined) throw new GatewayError("PARAMS_INVALID", "pins must be paths such as server:tool");
      return await chosen(deps, principal, pins);
    },
  });
}

function resetPins(deps: RestDeps): Route {
  return route({
    method: "DELETE",
    path: "/api/pins",
    right: ownWork,
    operation: {
      id: "resetPins",
      tag,
      summary: "Take your choice back",
      responses: answers(pinList, "What the configuration pins holds again.", [415, 503]),
    },
    handle: async ({ principal }) => await chosen(deps, principal, undefined),
  });
}

async function chosen(deps: RestDeps, principal: Principal, pins: PinChoice | undefined): Promise<Answer> {
  await deps.pins.choose(principal, pins);
  return await toAnswer(deps, principal);
}

async function toAnswer(deps: RestDeps, principal: Principal): Promise<Answer> {
  const view = deps.viewOf(principal);
  const { own, configured, paths } = await deps.pins.of(principal);
  const costOf = await deps.toolTokens(view);
  const tools = readPins(view, paths).map(({ path, found }) =>
    found === undefined
      ? { tool_path: path, name: null, tokens: null, near: nearPaths(view, path) }
      : { tool_path: path, name: found.name, tokens: costOf(found.server, found.tool).tokens, near: [] },
  );
  const tokens = tools.reduce((sum, tool) => sum + (tool.tokens ?? 0), 0);
  return jsonAnswer({ own: own ?? null, configured, most: mostPins, tools, tokens }, noStore);
}
