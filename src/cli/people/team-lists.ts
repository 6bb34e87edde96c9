import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { listInstallations } from "../../operations/installations/installation-operations.ts";
import type { listTemplates } from "../../operations/installations/template-operations.ts";
import type { TypesOf } from "../../operations/operation.ts";
import type { listTeams } from "../../operations/people/team-operations.ts";
import type { CommandContext } from "../command/command-context.ts";
import { typedTeam } from "../../config/given.ts";
import { mostRows, type GatewayClient } from "../gateway/gateway-client.ts";
import { allRows } from "../../kernel/all-rows.ts";

/** All teams that the caller sees. */
export async function allTeams(gateway: GatewayClient) {
  return await allRows(mostRows, async (query) => {
    const { teams: rows, nextCursor } = await gateway.ask<typeof listTeams>("GET /api/teams", { query });
    return { rows, nextCursor };
  });
}

/** The team that is named, or the only one that there is. Rejects with PERSON_UNKNOWN. */
export async function theTeam(gateway: GatewayClient, context: CommandContext): Promise<string> {
  const named = typedTeam(context);
  if (named !== undefined) return named;
  const [only, ...others] = await allTeams(gateway);
  if (only !== undefined && others.length === 0) return only.slug;
  throw new GatewayError("PERSON_UNKNOWN", "there are several teams, or none", {
    hint: "Say which one with --team; `toolyard team list` lists them.",
  });
}

type Listed = TypesOf<typeof listInstallations>["answer"]["installations"][number];
export interface Installation extends Omit<Listed, "status" | "dormant"> {
  readonly team: string;
}

/** What the team itself installed, without the servers of the configuration file, which everybody has. */
export async function installationsOf(gateway: GatewayClient, team: string): Promise<readonly Installation[]> {
  const params = { team };
  const answer = await gateway.ask<typeof listInstallations>("GET /api/teams/{team}/installations", { params });
  return answer.installations.filter(({ source }) => source === "db").map((row) => ({ ...row, team }));
}

/** Those of all teams, and those of the team that is named. */
export async function templatesOf(gateway: GatewayClient, team: string | undefined) {
  return (await gateway.ask<typeof listTemplates>("GET /api/templates", { query: { team } })).templates;
}
