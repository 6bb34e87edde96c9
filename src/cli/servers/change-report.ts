import { toGatewayError } from "../../kernel/failures/gateway-error.ts";
import type { compareConfig } from "../../operations/gateway/database-operations.ts";
import { ownersClient, readStatus } from "../gateway/gateway-client.ts";
import { findGateways } from "../gateway/running-gateways.ts";
import { showWaiting } from "../terminal/waiting-line.ts";
import type { CommandContext } from "../command/command-context.ts";
import { isOn } from "../../config/given.ts";
import { printText } from "../terminal/fitted-text.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { nextText, statusText } from "../terminal/status-text.ts";
import { waitInForce, type InForce, type WantedServer } from "../../operations/machine/servers/await-config.ts";

/** A change of the file that has been made. */
export interface ChangeReport {
  /** `added github to /home/me/toolyard.json`. */
  readonly what: string;
  readonly server: WantedServer;
  /** For programs. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** Says what was changed, waits until the running gateway has it in force, and says so. The exit code. */
export async function reportChange(context: CommandContext, { what, server, facts }: ChangeReport): Promise<number> {
  const isJson = isOn(context, "json");
  if (!isJson) printText(process.stdout, what);
  const inForce = await whileApplied(context, server);
  if (isJson) process.stdout.write(`${JSON.stringify({ ...facts, inForce })}\n`);
  else printText(isGood(inForce) ? process.stdout : process.stderr, toText(inForce, server));
  return isGood(inForce) ? 0 : 1;
}

/** Waits for the running gateway, and says so on stderr. */
async function whileApplied(context: CommandContext, server: WantedServer): Promise<InForce> {
  const [holder] = await findGateways(context).catch((error: unknown) => {
    if (toGatewayError(error).code === "GATEWAY_UNREACHABLE") return [];
    throw error;
  });
  if (holder === undefined) return await waitInForce(undefined, server);
  const gateway = ownersClient(holder);
  const waiting = showWaiting("waiting for the running gateway to apply it", process.stderr);
  try {
    return await waitInForce(
      {
        drift: async () => await gateway.ask<typeof compareConfig>("GET /api/config/drift", {}),
        servers: async () => (await readStatus(gateway)).servers,
      },
      server,
    );
  } finally {
    waiting.end();
  }
}

function isGood({ kind }: InForce): boolean {
  return kind === "applied" || kind === "nobody";
}

function toText(inForce: InForce, { isToRun }: WantedServer): string {
  switch (inForce.kind) {
    case "nobody":
      return "No gateway is running with this configuration; the change applies when one starts.";
    case "refused":
      return `The running gateway refuses the file: ${plainText(inForce.reason)}`;
    case "late":
      return `The running gateway goes on with the old configuration: ${inForce.reason}. \`toolyard config diff\` shows what it lacks.`;
    case "applied": {
      const [first] = inForce.servers;
      if (first === undefined || !isToRun) return "The running gateway has applied it.";
      const { tools, status } = first;
      const count = tools === 0 ? "" : `, ${tools} tool${tools === 1 ? "" : "s"}`;
      const todo = status === "online" ? "" : `: ${nextText(first)}`;
      return `The running gateway has applied it: ${first.server}: ${statusText(first, Date.now())}${count}${todo}`;
    }
  }
}
