import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { listInstallations } from "../../operations/installations/installation-operations.ts";
import type { listTemplates } from "../../operations/installations/template-operations.ts";
import type { TypesOf } from "../../operations/operation.ts";
import type { listTeams } from "../../operations/people/team-operations.ts";
import type { CommandContext } from "../command/command-context.ts";
import { givenOption, textOption, typedTeam } from "../../config/given.ts";
import { type GatewayClient, mostRows } from "../gateway/gateway-client.ts";
import { allRows } from "../../kernel/all-rows.ts";
import { type TeamRole, teamRoles } from "../../store/people-rows.ts";

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

/** A role in a team. Throws PEOPLE_CONFLICT. */
export function readTeamRole(context: CommandContext): TeamRole | undefined {
  const text = textOption(context, "role");
  const role = teamRoles.find((known) => known === text);
  if (text === undefined || role !== undefined) return role;
  throw new GatewayError("PEOPLE_CONFLICT", `there is no role ${JSON.stringify(text.slice(0, 40))} in a team`, {
    hint: `Give one of these with --role: ${teamRoles.join(", ")}.`,
  });
}

/** How long a token is valid. Throws CONFIG_INVALID. */
export function readDays(context: CommandContext): number | undefined {
  const given = givenOption(context, "days");
  if (given === undefined) return undefined;
  if (/^\d{1,4}$/.test(given.text)) return Number(given.text);
  throw new GatewayError("CONFIG_INVALID", `${given.name}: expected a number of days`, { hint: "Give 1 to 365." });
}

/** Prints a token that was made, which is shown only now. */
export function showToken(made: { readonly token: string; readonly expires: string } | null): void {
  if (made === null) return;
  process.stdout.write(`${made.token}\n`);
  process.stderr.write(`This is the token: it is shown only now. It is valid until ${made.expires.slice(0, 10)}.\n`);
}

/** `2026-11-27 14:02` of a time as REST writes it. */
export function minuteOf(time: string): string {
  return time.slice(0, 16).replace("T", " ");
}
