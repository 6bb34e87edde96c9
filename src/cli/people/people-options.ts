import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { teamRoles, type TeamRole } from "../../store/people-rows.ts";
import type { CommandContext } from "../command/command-context.ts";
import { givenOption, textOption } from "../../config/given.ts";

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
