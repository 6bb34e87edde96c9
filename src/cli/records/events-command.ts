import type { CommandContext } from "../command/command-context.ts";
import { isOn, textOption } from "../../config/given.ts";
import { openGatewayClient, requireStreaming } from "../gateway/gateway-client.ts";
import { clipText, printText } from "../terminal/fitted-text.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { toClockText } from "../terminal/record-cells.ts";

/** `toolyard events -f`: prints what happens in the running gateway, until it ends or the command is interrupted. */
export async function events(context: CommandContext): Promise<number> {
  if (!isOn(context, "follow")) {
    process.stderr.write("toolyard: events are printed as they happen: `toolyard events -f`\n");
    return 2;
  }
  const isJson = isOn(context, "json");
  const types = textOption(context, "types")
    ?.split(",")
    .map((type) => type.trim())
    .join(",");
  const gateway = await openGatewayClient(context);
  requireStreaming(gateway);
  let type = "";
  const asked = { path: "/api/events", query: { types }, accept: "text/event-stream", isEndless: true };
  for await (const line of gateway.lines(asked)) {
    if (line.startsWith("event: ")) type = line.slice("event: ".length);
    else if (line.startsWith("data: ") && type !== "") {
      const data = line.slice("data: ".length);
      const text = type === "reset" ? toReset(isJson) : isJson ? data : toLine(JSON.parse(data) as PublishedEvent);
      if (isJson) process.stdout.write(`${text}\n`);
      else printText(process.stdout, text, "    ");
      type = "";
    }
  }
  return 0;
}

function toReset(isJson: boolean): string {
  return isJson ? JSON.stringify({ type: "reset" }) : "... some events are missing here";
}

/** As REST sends it. */
interface PublishedEvent {
  readonly type: string;
  readonly time: string;
  readonly instance: string | null;
  readonly principal: string | null;
  readonly coalesced?: number;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Longer ones, such as lists of tools, are cut: `--json` has all of it. */
const longestData = 300;

/** `12:34:56  type  server or instance  principal  name=value ...` */
function toLine({ type, time, instance, principal, coalesced, data }: PublishedEvent): string {
  const facts = Object.entries(data).map(
    ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  const all = [
    toClockText(time, new Date()),
    type,
    ...(instance === null ? [] : [instance]),
    ...(principal === null ? [] : [`(${principal})`]),
    ...(coalesced === undefined ? [] : [`[+${coalesced}]`]),
    clipText(facts.join(" "), longestData),
  ];
  return plainText(all.join("  ").trimEnd());
}
