import type { ValuesView } from "../../people/installations/install-view.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { CommandContext } from "../command/command-context.ts";
import { isGatewayAddress } from "../gateway/gateway-address.ts";
import { openGateway, type AskGateway } from "../gateway/gateway-login.ts";
import { interrupted } from "../terminal/interruption.ts";
import { isOn, textOption, typedTeam } from "../command/options.ts";
import { plainText } from "../terminal/plain-text.ts";
import { misused } from "../terminal/wrong-usage.ts";

/** How values are read from a command line and shown, which is the same for a gateway on this machine. */
export interface ValueWords {
  readonly readValues: (words: readonly string[]) => Promise<Readonly<Record<string, string | readonly string[]>>>;
  readonly showValues: (values: ValuesView) => void;
}

/**
 * `toolyard config get|set|unset SERVER --gateway URL`: at a gateway where one is logged in, with `--me` values of
 * one's own, and with `--team TEAM` those of a team that one runs.
 */
export async function configElsewhere(
  context: CommandContext,
  { readValues, showValues }: ValueWords,
): Promise<number> {
  const [task, name, ...words] = context.positionals;
  const address = textOption(context, "gateway") ?? "";
  const team = typedTeam(context);
  const isOwn = isOn(context, "me");
  const usage = `config ${String(task)} SERVER ${isOwn ? "--me" : "--me|--team TEAM"} --gateway URL`;
  // Whose values they are is said by the login alone.
  const isSaid = isOwn === (team === undefined) && context.flags["user"] === undefined;
  if (!isSaid) return misused(`${usage}, ${isOwn ? "without --user and --team" : "without --user"}`);
  if (name === undefined || !isGatewayAddress(address) || (task !== "get" && words.length === 0))
    return misused(`${usage}${task === "get" ? "" : task === "set" ? " PATH=VALUE" : " PATH"}`);
  const again = `toolyard config get ${plainText(name)} ${isOwn ? "--me" : `--team ${plainText(team ?? "")}`}`;
  const signal = interrupted(`\`${again} --gateway ${plainText(address)}\` shows what holds now.`);
  const ask = await openGateway(context, address, signal);
  const slug = encodeURIComponent(team ?? (await ownTeam(ask)));
  const path = `/api/teams/${slug}/installations/${encodeURIComponent(name)}/config/${isOwn ? "me" : "team"}`;
  if (task !== "get") {
    const values = task === "set" ? await readValues(words) : Object.fromEntries(words.map((one) => [one, null]));
    await ask("PATCH", path, { values });
    if (isOn(context, "json")) process.stdout.write('{"ok":true}\n');
    return 0;
  }
  const values = (await ask("GET", path)) as ValuesView;
  if (isOn(context, "json")) process.stdout.write(`${JSON.stringify({ ok: true, values })}\n`);
  else showValues(values);
  return 0;
}

async function ownTeam(ask: AskGateway): Promise<string> {
  const { team } = (await ask("GET", "/api/me")) as { readonly team: string | null };
  if (team !== null) return team;
  throw new GatewayError("CONFIG_INVALID", "the person logged in there is in no team, and has no values", {
    hint: "Ask an admin for an invitation, and log in again.",
  });
}
