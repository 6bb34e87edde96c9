import { toLocalOrigin } from "../../front/http/public-url.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { openBrowser } from "../terminal/browser.ts";
import type { CommandContext } from "../command/command-context.ts";
import { isOn } from "../command/options.ts";
import { control } from "../gateway/owner-client.ts";
import { findGateway } from "../gateway/running-gateways.ts";

/** `toolyard open`: opens the dashboard of the running gateway in the browser, logged in. */
export async function open(context: CommandContext): Promise<number> {
  const holder = await findGateway(context);
  const { link } = await control(holder, { command: "link" });
  if (link === undefined || holder.url === null)
    throw new GatewayError("GATEWAY_UNREACHABLE", `the gateway of process ${holder.pid} is of another version`, {
      hint: "Run `toolyard stop` and start it again.",
    });
  const url = `${toLocalOrigin(holder.url)}${link}`;
  process.stdout.write(`${url}\n`);
  if (isOn(context, "print")) return 0;
  process.stderr.write("It logs one browser in, within five minutes.\n");
  openBrowser(url, process.platform);
  return 0;
}
