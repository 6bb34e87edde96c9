import type { UsageReport } from "../../app/owner/owner-usage.ts";
import { countText } from "../../kernel/text/count-text.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { CommandContext } from "../command/command-context.ts";
import { isOn, textOption } from "../command/options.ts";
import { control } from "../gateway/owner-client.ts";
import { toCell, toClockText, toMsText } from "../terminal/record-cells.ts";
import { findGateway } from "../gateway/running-gateways.ts";
import { toTable } from "../terminal/table.ts";

/** `toolyard usage`: sums of the calls of the running gateway. */
export async function usage(context: CommandContext): Promise<number> {
  const request = {
    by: (textOption(context, "by") ?? "server").split(",").map((name) => name.trim()),
    days: toNumber("days", textOption(context, "days") ?? "1", 400),
    limit: toNumber("limit", textOption(context, "limit") ?? "1000", 10_000),
    server: textOption(context, "server"),
    tool: textOption(context, "tool"),
  };
  const { team } = context.flags;
  // `--team` is a name here, and that of `serve` a setting.
  const holder = await findGateway({ ...context, flags: { ...context.flags, team: undefined } });
  const named = typeof team === "string" ? { team } : {};
  const answer = await control(holder, { command: "usage", ...request, ...named });
  if (answer.usage === undefined) {
    process.stderr.write(`toolyard: ${answer.message ?? "this gateway cannot tell"}\n  ${answer.hint ?? ""}\n`);
    return 1;
  }
  if (isOn(context, "json")) process.stdout.write(`${JSON.stringify(answer.usage)}\n`);
  else show(answer.usage);
  return 0;
}

/** Throws CONFIG_INVALID. */
function toNumber(option: string, text: string, most: number): number {
  const number = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= most) return number;
  throw new GatewayError("CONFIG_INVALID", `--${option}: expected a whole number from 1 to ${most}`, {
    hint: `For example \`--${option} 7\`.`,
  });
}

function show({ by, sums, names, sinceMs, fromMs }: UsageReport): void {
  if (sums.length === 0) return void process.stderr.write("nothing was called\n");
  const now = new Date();
  const figures = ["CALLS", "FAILED", "MEAN", "LONGEST", "TOKENS IN", "OUT"] as const;
  const columns = [
    ...by.map((dimension) => ({ heading: dimension.toUpperCase() })),
    ...figures.map((heading) => ({ heading, align: "right" as const })),
  ];
  const rows = sums.map((sum) => [
    ...by.map((dimension, at) => toGroup(dimension, sum.group[at] ?? null, { names, now })),
    countText(sum.calls),
    countText(sum.errors),
    toMsText(sum.calls === 0 ? 0 : sum.durationMsSum / sum.calls),
    toMsText(sum.durationMsMax),
    countText(sum.argumentTokens),
    countText(sum.resultTokens),
  ]);
  process.stdout.write(`${toTable(columns, rows).join("\n")}\n`);
  if (sinceMs !== null && sinceMs > fromMs)
    process.stderr.write(`what was before ${toClockText(new Date(sinceMs).toISOString(), now)} is not known\n`);
}

const longestName = 60;

function toGroup(
  dimension: string,
  value: string | null,
  { names, now }: { readonly names: UsageReport["names"]; readonly now: Date },
): string {
  if (value === null) return "-";
  if (dimension === "day") return new Date(Number(value)).toISOString().slice(0, 10);
  if (dimension === "hour") return toClockText(new Date(Number(value)).toISOString(), now).slice(0, -3);
  if (dimension === "code" && value === "") return "ok";
  return toCell(dimension === "principal" ? (names[value] ?? value) : value, longestName);
}
