import { countText } from "../../kernel/text/number-text.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { TypesOf } from "../../operations/operation.ts";
import type { showUsage } from "../../operations/records/usage-operations.ts";
import type { CommandContext } from "../command/command-context.ts";
import { isOn, textOption, typedTeam } from "../../config/given.ts";
import { openGatewayClient } from "../gateway/gateway-client.ts";
import { toCell, toClockText, toMsText } from "../terminal/record-cells.ts";
import { toTable } from "../terminal/table.ts";

/** `toolyard usage`: sums of the calls of the running gateway. */
export async function usage(context: CommandContext): Promise<number> {
  const days = toNumber("days", textOption(context, "days") ?? "1", 400);
  const by = (textOption(context, "by") ?? "server").split(",").map((name) => name.trim());
  const query = {
    by: by.join(","),
    from: new Date(Date.now() - days * dayMs).toISOString(),
    limit: String(toNumber("limit", textOption(context, "limit") ?? "1000", 10_000)),
    server: textOption(context, "server"),
    tool: textOption(context, "tool"),
    team: typedTeam(context),
  };
  const gateway = await openGatewayClient(context);
  const report = await gateway.ask<typeof showUsage>("GET /api/usage", { query });
  if (isOn(context, "json")) process.stdout.write(`${JSON.stringify(report)}\n`);
  else show(report);
  return 0;
}

const dayMs = 86_400_000;
type UsageReport = TypesOf<typeof showUsage>["answer"];

/** Throws CONFIG_INVALID. */
function toNumber(option: string, text: string, most: number): number {
  const number = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= most) return number;
  throw new GatewayError("CONFIG_INVALID", `--${option}: expected a whole number from 1 to ${most}`, {
    hint: `For example \`--${option} 7\`.`,
  });
}

function show({ by, usage: sums, names, since, from }: UsageReport): void {
  if (sums.length === 0) return void process.stderr.write("nothing was called\n");
  const now = new Date();
  const figures = ["CALLS", "FAILED", "MEAN", "LONGEST", "TOKENS IN", "OUT"] as const;
  const importance = [0, 0, 1, 2, 3, 3];
  const columns = [
    ...by.map((dimension) => ({ heading: dimension.toUpperCase(), fit: "wrap" as const })),
    ...figures.map((heading, at) => ({ heading, align: "right" as const, rank: importance[at] ?? 0 })),
  ];
  const rows = sums.map((sum) => [
    ...by.map((dimension) => toGroup(dimension, sum.group[dimension] ?? null, { names, now })),
    countText(sum.calls),
    countText(sum.errors),
    toMsText(sum.calls === 0 ? 0 : sum.durationMs.sum / sum.calls),
    toMsText(sum.durationMs.max),
    countText(sum.argumentTokens),
    countText(sum.resultTokens),
  ]);
  process.stdout.write(`${toTable(columns, rows).join("\n")}\n`);
  if (since !== null && since > from) process.stderr.write(`what was before ${toClockText(since, now)} is not known\n`);
}

const longestName = 60;

function toGroup(
  dimension: string,
  value: string | null,
  { names, now }: { readonly names: UsageReport["names"]; readonly now: Date },
): string {
  if (value === null) return "-";
  if (dimension === "day") return value.slice(0, 10);
  if (dimension === "hour") return toClockText(value, now).slice(0, -3);
  if (dimension === "code" && value === "") return "ok";
  return toCell(dimension === "principal" ? (names[value] ?? value) : value, longestName);
}
