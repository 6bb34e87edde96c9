import { toLocalOrigin } from "../../kernel/text/local-url.ts";
import type { makeDashboardLink } from "../../operations/gateway/owner-operations.ts";
import { openBrowser } from "../../operations/machine/surroundings/browser.ts";
import type { CommandContext } from "../command/command-context.ts";
import { isOn } from "../../config/given.ts";
import { ownersClient } from "../gateway/gateway-client.ts";
import { findGateway } from "../gateway/running-gateways.ts";

/** `toolyard open`: opens the dashboard of the running gateway in the browser, logged in. */
export async function open(context: CommandContext): Promise<number> {
  const holder = await findGateway(context);
  const { path } = await ownersClient(holder).ask<typeof makeDashboardLink>("POST /api/dashboard-links", {});
  const url = `${toLocalOrigin(holder.url ?? "")}${path}`;
  process.stdout.write(`${url}\n`);
  if (isOn(context, "print")) return 0;
  process.stderr.write("It logs one browser in, within five minutes.\n");
  openBrowser(url, process.platform);
  return 0;
}
