import type { CommandContext } from "../command/command-context.ts";
import { isOn } from "../command/options.ts";
import { printText } from "../terminal/fitted-text.ts";
import { plainText } from "../terminal/plain-text.ts";
import { nextText, statusText } from "../terminal/status-text.ts";
import { waitInForce, type InForce, type WantedServer } from "./await-config.ts";

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
  const inForce = await waitInForce(context, server);
  if (isJson) process.stdout.write(`${JSON.stringify({ ...facts, inForce })}\n`);
  else printText(isGood(inForce) ? process.stdout : process.stderr, toText(inForce, server));
  return isGood(inForce) ? 0 : 1;
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
