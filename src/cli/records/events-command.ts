import type { CommandContext } from "../command/command-context.ts";
import { isOn, textOption } from "../command/options.ts";
import { followEvents, type EventLine } from "../gateway/owner-client.ts";
import { plainText } from "../terminal/plain-text.ts";
import { toClockText } from "../terminal/record-cells.ts";
import { findGateway } from "../gateway/running-gateways.ts";

/** `toolyard events -f`: prints what happens in the running gateway, until it ends or the command is interrupted. */
export async function events(context: CommandContext): Promise<number> {
  if (!isOn(context, "follow")) {
    process.stderr.write("toolyard: events are printed as they happen: `toolyard events -f`\n");
    return 2;
  }
  const types = textOption(context, "types")
    ?.split(",")
    .map((type) => type.trim());
  const isJson = isOn(context, "json");
  for await (const line of followEvents(await findGateway(context), types)) {
    if (!line.ok) {
      process.stderr.write(`toolyard: ${line.message ?? "there are no events"}\n  ${line.hint ?? ""}\n`);
      return 1;
    }
    const text = isJson ? toJsonLine(line) : toLine(line);
    if (text !== undefined) process.stdout.write(`${text}\n`);
  }
  return 0;
}

function toJsonLine({ event, reset }: EventLine): string | undefined {
  if (reset === true) return JSON.stringify({ type: "reset" });
  return event === undefined ? undefined : JSON.stringify(event);
}

/** Longer ones, such as lists of tools, are cut: `--json` has all of it. */
const longestData = 300;

/** `12:34:56  type  server or instance  principal  name=value ...` */
function toLine({ event, reset }: EventLine): string | undefined {
  if (reset === true) return "... some events are missing here";
  if (event === undefined) return undefined;
  const { type, time, instance, principal, coalesced, data } = event;
  const facts = Object.entries(data).map(
    ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  const all = [
    toClockText(time, new Date()),
    type,
    ...(instance === null ? [] : [instance]),
    ...(principal === null ? [] : [`(${principal})`]),
    ...(coalesced === undefined ? [] : [`[+${coalesced}]`]),
    facts.join(" ").slice(0, longestData),
  ];
  return plainText(all.join("  ").trimEnd());
}
