import * as z from "zod";
import { nearPaths, readPins } from "../../catalog/exposure/pinned-tools.ts";
import { mostPins, parsePins, type PinChoice } from "../../config/rows/tool-rows.ts";
import { ownRecords, ownWork } from "../../engine/policy/rights.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Principal } from "../../kernel/principal.ts";
import { answers } from "../responses.ts";
import * as schemas from "../schemas.ts";
import { operation, type Operation } from "../operation.ts";
import type { Services } from "../services.ts";

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

export const showPins = operation({
  route: "GET /api/pins",
  right: ownRecords,
  id: "listPins",
  tag,
  summary: "The tools that your clients see beside the four",
  responses: answers(pinList, "With what each costs. Open sessions keep what they were told.", [503]),
  run: async (services, { principal }) => await toPinList(services, principal),
});

const choosePins = operation({
  route: "PUT /api/pins",
  right: ownWork,
  id: "choosePins",
  tag,
  summary: "Pin tools for yourself",
  description:
    "They stand in the list of `/mcp` as tools of their own. A path that names no tool is kept, and shown as unused.",
  body: pinsBody,
  responses: answers(pinList, "What is pinned now, for new sessions.", [413, 415, 503]),
  async run(services, { principal, body }) {
    const pins = parsePins(body.pins);
    if (pins === undefined) throw new GatewayError("PARAMS_INVALID", "pins must be paths such as server:tool");
    return await chosen(services, principal, pins);
  },
});

const resetPins = operation({
  route: "DELETE /api/pins",
  right: ownWork,
  id: "resetPins",
  tag,
  summary: "Take your choice back",
  responses: answers(pinList, "What the configuration pins holds again.", [415, 503]),
  run: async (services, { principal }) => await chosen(services, principal, undefined),
});

async function chosen(services: Services, principal: Principal, pins: PinChoice | undefined): Promise<object> {
  await services.pins.choose(principal, pins);
  return await toPinList(services, principal);
}

async function toPinList(services: Services, principal: Principal): Promise<object> {
  const view = services.viewOf(principal);
  const { own, configured, paths } = await services.pins.of(principal);
  const costOf = await services.toolTokens(view);
  const tools = readPins(view, paths).map(({ path, found }) =>
    found === undefined
      ? { tool_path: path, name: null, tokens: null, near: nearPaths(view, path) }
      : { tool_path: path, name: found.name, tokens: costOf(found.server, found.tool).tokens, near: [] },
  );
  const tokens = tools.reduce((sum, tool) => sum + (tool.tokens ?? 0), 0);
  return { own: own ?? null, configured, most: mostPins, tools, tokens };
}

/** Tools that stand in the list of `/mcp` beside the four: each person chooses their own. */
export const pinOperations: readonly Operation[] = [showPins, choosePins, resetPins];
