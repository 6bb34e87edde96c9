import type { AccessAnswer, AccessRequest } from "../../app/owner/owner-access.ts";
import type { CommandContext } from "../command/command-context.ts";
import { isOn, listOption, textOption } from "../command/options.ts";
import { control } from "../gateway/owner-client.ts";
import { plainText } from "../terminal/plain-text.ts";
import { findGateway } from "../gateway/running-gateways.ts";
import { printTable } from "../terminal/table.ts";
import { misused } from "../terminal/wrong-usage.ts";

/** `toolyard app list|revoke`: what acts for people. */
export async function app(context: CommandContext): Promise<number> {
  const [task = "list", name] = context.positionals;
  const user = textOption(context, "user");
  if (task === "list") return await ask(context, { task: "app.list", user });
  if (task === "revoke" && name !== undefined) return await ask(context, { task: "app.revoke", name, user });
  return misused("app list, or app revoke ID");
}

/** `toolyard session list|end`: browsers that people are logged in with. */
export async function session(context: CommandContext): Promise<number> {
  const [task = "list", name] = context.positionals;
  const user = textOption(context, "user");
  if (task === "list") return await ask(context, { task: "session.list", user });
  if (task === "end" && name !== undefined) return await ask(context, { task: "session.end", name, user });
  return misused("session list, or session end ID");
}

/** `toolyard client list|add|rm`: apps that are registered at the gateway's authorization server. */
export async function client(context: CommandContext): Promise<number> {
  const [task = "list", name] = context.positionals;
  if (task === "list") return await ask(context, { task: "client.list" });
  if (task === "rm" && name !== undefined) return await ask(context, { task: "client.remove", name });
  if (task !== "add" || name === undefined) return misused("client list, client add NAME, or client rm ID");
  const redirectUris = listOption(context, "redirect");
  const hasSecret = isOn(context, "with-secret") || redirectUris.length === 0;
  return await ask(context, { task: "client.add", name, redirectUris, hasSecret });
}

async function ask(context: CommandContext, request: AccessRequest): Promise<number> {
  const holder = await findGateway(context);
  const answer = await control(holder, { command: "people", ...request });
  if (!answer.ok) {
    const { message = "it failed", hint } = answer;
    process.stderr.write(`toolyard: ${plainText(message)}\n${hint === undefined || hint === "" ? "" : `  ${hint}\n`}`);
    return 1;
  }
  const access = answer.people ?? {};
  if (isOn(context, "json")) process.stdout.write(`${JSON.stringify({ ok: true, ...access })}\n`);
  else show(access);
  return 0;
}

function show({ apps, sessions, clients, areMore, client: made }: AccessAnswer): void {
  if (apps !== undefined)
    printTable(
      ["ID", "APP", "USER", "TEAM", "LAST USED", "MAY"],
      apps.map((one) => [one.id, plainText(one.name), one.user, one.team, toDay(one.usedAtMs), one.scopes.join(" ")]),
    );
  if (sessions !== undefined)
    printTable(
      ["ID", "USER", "SINCE", "SEEN", "BY"],
      sessions.map((one) => [one.id, one.user, toDay(one.createdAtMs), toDay(one.seenAtMs), plainText(one.via)]),
    );
  if (clients !== undefined)
    printTable(
      ["ID", "NAME", "PEOPLE", "UNTIL", "CALLED BACK AT"],
      clients.map((one) => [
        ...[one.id, plainText(one.name), String(one.apps)],
        one.expiresAtMs === null ? "-" : toDay(one.expiresAtMs),
        plainText(one.redirectUris.join(" ")),
      ]),
    );
  if (areMore === true)
    process.stderr.write("There are more, which were used less lately: GET /api/auth/clients has all of them.\n");
  if (made === undefined) return;
  process.stdout.write(`${made.id}\n${made.secret === null ? "" : `${made.secret}\n`}`);
  process.stderr.write(
    made.secret === null
      ? "This is the client's id. It has no secret.\n"
      : "These are the client's id and its secret, which is shown only now.\n",
  );
}

function toDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
