import type {
  endAnySession,
  listAllApps,
  listAllSessions,
  revokeAnyApp,
} from "../../operations/people/access-operations.ts";
import type { addClient, listClients, removeClient } from "../../operations/people/client-operations.ts";
import type { CommandContext } from "../command/command-context.ts";
import { isOn, listOption, textOption } from "../../config/given.ts";
import { printAnswer, orderDone } from "../gateway/list-output.ts";
import { openGatewayClient } from "../gateway/gateway-client.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { printTable } from "../terminal/table.ts";
import { misused } from "../terminal/wrong-usage.ts";

/** `toolyard app list|revoke`: what acts for people. */
export async function app(context: CommandContext): Promise<number> {
  const [task = "list", id] = context.positionals;
  const query = { user: textOption(context, "user") };
  if (task === "revoke" && id !== undefined) {
    return await orderDone<typeof revokeAnyApp>(context, "DELETE /api/auth/apps/{id}", { params: { id }, query });
  }
  if (task !== "list") return misused("app list, or app revoke ID");
  const gateway = await openGatewayClient(context);
  const answer = await gateway.ask<typeof listAllApps>("GET /api/auth/apps", { query });
  return printAnswer(context, answer, ({ apps }) =>
    printTable(
      ["ID", "APP", "USER", "TEAM", "LAST USED", "MAY"],
      apps.map((one) => [one.id, plainText(one.name), one.user, one.team, dayOf(one.used), one.scopes.join(" ")]),
    ),
  );
}

/** `toolyard session list|end`: browsers that people are logged in with. */
export async function session(context: CommandContext): Promise<number> {
  const [task = "list", id] = context.positionals;
  const query = { user: textOption(context, "user") };
  if (task === "end" && id !== undefined) {
    return await orderDone<typeof endAnySession>(context, "DELETE /api/auth/sessions/{id}", { params: { id }, query });
  }
  if (task !== "list") return misused("session list, or session end ID");
  const gateway = await openGatewayClient(context);
  const answer = await gateway.ask<typeof listAllSessions>("GET /api/auth/sessions", { query });
  return printAnswer(context, answer, ({ sessions }) =>
    printTable(
      ["ID", "USER", "SINCE", "SEEN", "BY"],
      sessions.map((one) => [one.id, one.user, dayOf(one.created), dayOf(one.seen), plainText(one.via)]),
    ),
  );
}

/** Apps that register by themselves may be very many. REST has all of them, page by page. */
const mostListed = "1000";

/** `toolyard client list|add|rm`: apps that are registered at the gateway's authorization server. */
export async function client(context: CommandContext): Promise<number> {
  const [task = "list", name] = context.positionals;
  if (task === "list") return await listRegistered(context);
  if (task === "rm" && name !== undefined) {
    return await orderDone<typeof removeClient>(context, "DELETE /api/auth/clients/{id}", { params: { id: name } });
  }
  if (task !== "add" || name === undefined) return misused("client list, client add NAME, or client rm ID");
  const redirectUris = [...listOption(context, "redirect")];
  const hasSecret = isOn(context, "with-secret") || redirectUris.length === 0;
  const gateway = await openGatewayClient(context);
  const body = { name, redirectUris, hasSecret };
  const made = await gateway.ask<typeof addClient>("POST /api/auth/clients", { body });
  return printAnswer(context, { client: made }, () => {
    process.stdout.write(`${made.id}\n${made.secret === null ? "" : `${made.secret}\n`}`);
    process.stderr.write(
      made.secret === null
        ? "This is the client's id. It has no secret.\n"
        : "These are the client's id and its secret, which is shown only now.\n",
    );
  });
}

async function listRegistered(context: CommandContext): Promise<number> {
  const gateway = await openGatewayClient(context);
  const { clients, nextCursor } = await gateway.ask<typeof listClients>("GET /api/auth/clients", {
    query: { limit: mostListed },
  });
  return printAnswer(context, { clients, areMore: nextCursor !== null }, () => {
    printTable(
      ["ID", "NAME", "PEOPLE", "UNTIL", "CALLED BACK AT"],
      clients.map((one) => [
        ...[one.id, plainText(one.name), String(one.apps)],
        one.expires === null ? "-" : dayOf(one.expires),
        plainText(one.redirectUris.join(" ")),
      ]),
    );
    if (nextCursor !== null)
      process.stderr.write("There are more, which were used less lately: GET /api/auth/clients has all of them.\n");
  });
}

function dayOf(time: string): string {
  return time.slice(0, 10);
}
