import * as z from "zod";
import { toolEffects } from "../../kernel/call/tool-effects.ts";
import { reading } from "../../engine/policy/rights.ts";
import type { Principal } from "../../kernel/principal.ts";
import { answers } from "../responses.ts";
import { operation, type Operation } from "../operation.ts";
import type { Services } from "../services.ts";

const profileList = z
  .object({
    profiles: z.array(
      z.object({
        name: z.string(),
        path: z.string().describe("Where clients find it at this gateway."),
        exposure: z.string().describe("What that path shows."),
        servers: z.array(z.string()).describe("That it has now, of those that you may use."),
        tools: z.int(),
        outside: z.int().describe("Tools that you may use and that are not in it."),
        effects: z.array(z.enum(toolEffects)).nullable().describe("What its tools may do; null for anything."),
        pinned: z.array(z.string()).nullable().describe("Null where it pins none of its own."),
        tokens: z.int().describe("What its list of tools costs a model in each conversation."),
        tokens_exact: z.boolean().describe("False for an estimate."),
        has_tokens: z.boolean().describe("Whether there are tokens for it alone."),
      }),
    ),
  })
  .meta({ id: "ProfileList" });

export const listProfiles = operation({
  route: "GET /api/profiles",
  right: reading,
  id: "listProfiles",
  tag: "Tools and resources",
  summary: "Sets of servers and tools that a client can be connected to",
  description: "In the order of the configuration. A credential of one profile sees that one.",
  responses: answers(profileList, "Profiles, with what each has for you."),
  async run(services, { principal }) {
    const names = Object.keys(services.settings().profiles);
    const seen = principal.profile === undefined ? names : names.filter((name) => name === principal.profile);
    return { profiles: await Promise.all(seen.map(async (name) => await toProfile(services, principal, name))) };
  },
});

async function toProfile(services: Services, principal: Principal, name: string) {
  const narrowed = services.profiles.enter(principal, name);
  const { effects = null, pin, tokenHashes = [] } = services.profiles.rulesOf(narrowed) ?? {};
  const view = services.viewOf(narrowed);
  const path = `/mcp/p/${name}`;
  const { exposure, tokens, isExact } = await services.listAt(path, view);
  return {
    ...{ name, path, exposure, effects: effects && [...effects] },
    servers: view.servers.map(({ slug }) => slug as string),
    tools: view.servers.reduce((sum, { tools }) => sum + tools.length, 0),
    outside: view.outside,
    pinned: pin === undefined ? null : pin === "auto" ? ["auto"] : [...pin],
    ...{ tokens, tokens_exact: isExact, has_tokens: tokenHashes.length > 0 },
  };
}

/** Sets of servers and tools for one person. */
export const profileOperations: readonly Operation[] = [listProfiles];
