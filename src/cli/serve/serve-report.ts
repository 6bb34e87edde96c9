import { countText } from "../../kernel/text/number-text.ts";
import { join } from "node:path";
import type { Gateway } from "../../app/gateway.ts";
import type { Overview, ServerOverview } from "../../app/records/status-report.ts";
import type { Config } from "../../config/config.ts";
import { tellOthers } from "../../operations/machine/doctor/machine-users.ts";
import { widthOf, wrapText } from "../terminal/fitted-text.ts";
import { toCell } from "../terminal/record-cells.ts";
import { styleOfWord } from "../terminal/status-text.ts";
import { isComing, statusWord } from "../../kernel/status-words.ts";
import { paintOn, toTable } from "../terminal/table.ts";
import type { TerminalScreen } from "../terminal/terminal-screen.ts";
import { thingsToAsk } from "./example-questions.ts";
import type { EventBus } from "../../kernel/events/event-bus.ts";
import type { EventOf } from "../../kernel/events/event.ts";
import { plainText } from "../../kernel/text/plain-text.ts";

/** Says what to do when there are no servers. Empty when there are some. */
export function missingServersHelp({ file, servers }: Config, cwd: string): string {
  if (servers.length > 0) return "";
  const entry = '{ "mcpServers": { "<name>": { "command": "<program>", "args": [] } } }';
  return file === undefined
    ? `  There are no servers, because no configuration file was found. \`toolyard servers add\` makes one; or write
  ${join(cwd, "toolyard.json")} and start again, or name another file with --config:
    ${entry}
`
    : `  There are no servers in ${file}. \`toolyard servers add\` adds one, or write it
  there; no restart is needed:
    ${entry}
`;
}

export interface StartupReport {
  readonly gateway: Pick<Gateway, "instances" | "overview" | "rootsHint" | "isOpen">;
  readonly config: Config;
  readonly url: string;
  /** A link that logs a browser in. */
  readonly dashboardUrl: string;
  readonly cwd: string;
  readonly logFile: string | undefined;
  readonly screen: TerminalScreen;
  readonly stopping: AbortSignal;
}

/** A first start may install packages. After this time the table is shown with the results so far. */
const longestWaitMs = 120_000;

/**
 * Shows on a terminal which servers are still starting, and then the summary. Prints nothing more once the gateway
 * stops.
 */
export async function reportStartup(report: StartupReport): Promise<void> {
  const { gateway, screen, stopping } = report;
  const starting = new Set(gateway.instances());
  const total = starting.size;
  const waiting = AbortSignal.any([AbortSignal.timeout(longestWaitMs), stopping]);
  const showProgress = (): void => {
    if (stopping.aborted || starting.size === 0) return screen.show([]);
    const names = [...starting].map(({ server }) => server.slug).join(", ");
    screen.show([`  starting: ${total - starting.size} of ${total} servers are up, waiting for ${names}`]);
  };
  showProgress();
  await Promise.all(
    [...starting].map(async (instance) => {
      await instance.settled(waiting).catch(() => undefined);
      starting.delete(instance);
      showProgress();
    }),
  );
  screen.show([]);
  if (stopping.aborted) return;
  const overview = await gateway.overview({ isCounted: true });
  const others = await tellOthers(report.config);
  const asks = await thingsToAsk(overview.servers);
  if (!stopping.aborted) screen.print(toLastScreen(report, { overview, others, asks }));
}

/** Suggestions for better settings, by server. */
export function configurationHints(
  gateway: Pick<Gateway, "rootsHint">,
  { servers }: Pick<Config, "servers">,
): readonly ServerHint[] {
  return servers.flatMap((server) => {
    const hint = gateway.rootsHint(server);
    return hint === undefined ? [] : [{ server: server.slug, hint }];
  });
}

export interface ServerHint {
  readonly server: string;
  readonly hint: string;
}

function toLastScreen(
  { gateway, config, url, dashboardUrl, cwd, logFile, screen }: StartupReport,
  { overview, others, asks }: LastFacts,
): string {
  const { columns } = screen.size();
  const wrapped = (text: string): string => wrapText(text, columns, "    ").join("\n");
  const hints = configurationHints(gateway, config);
  const missing = missingServersHelp(config, cwd);
  const paragraphs = [
    missing === "" ? `${toServerTable(overview.servers, columns)}\n\n${wrapped(toTotals(overview))}\n` : missing,
    hints.map(({ server, hint }) => `${wrapped(`  ${server} ${hint}`)}\n`).join(""),
    [
      ...toCopy("Dashboard", dashboardUrl, columns),
      `            (works once within five minutes; then \`toolyard open\`)`,
      ...toCopy("Address", `${url}/mcp`, columns),
      ...toCopy("Connect", `claude mcp add --transport http toolyard ${url}/mcp${tokenHint(gateway)}`, columns),
      `            (other clients and endpoints: ${url}/)`,
      ...(logFile === undefined ? [] : toCopy("Log", logFile, columns)),
      ...(others === undefined ? [] : wrapText(`  Others    ${others}`, columns, " ".repeat(12))),
      "",
    ].join("\n"),
    asks.length === 0
      ? ""
      : `  Then ask your client, for example:\n${asks.map((ask) => `${wrapped(`    "${ask}"`)}\n`).join("")}`,
  ];
  return `\n${paragraphs.filter((paragraph) => paragraph !== "").join("\n")}\n`;
}

/** A text to be copied must not be broken: where it is too long for its line, it gets one of its own. */
function toCopy(label: string, text: string, columns: number): readonly string[] {
  const line = `  ${label.padEnd(10)}${text}`;
  return widthOf(line) <= columns ? [line] : [`  ${label}`, `    ${text}`];
}

interface LastFacts {
  readonly overview: Overview;
  readonly others: string | undefined;
  readonly asks: readonly string[];
}

/** Those with something to do about them come first. */
function toServerTable(all: readonly ServerOverview[], columns: number): string {
  const servers = all.toSorted((one, other) => rankOf(one) - rankOf(other));
  const rows = servers.map((server) => [
    `  ${server.slug}`,
    statusWord(server),
    server.tools.length === 0 ? "-" : String(server.tools.length),
    server.tokens === 0 ? "-" : countText(server.tokens),
    toNote(server),
  ]);
  const shown = [
    { heading: "  SERVER" },
    { heading: "STATUS", style: styleOfWord },
    { heading: "TOOLS", align: "right", rank: 1 },
    { heading: "TOKENS", align: "right", rank: 2 },
    { heading: "", fit: "below" },
  ] as const;
  return toTable(shown, rows, { room: columns, paint: paintOn(process.stderr) }).join("\n");
}

function rankOf(server: ServerOverview): number {
  if (server.status === "disabled") return server.step === "enable" || server.step === undefined ? 2 : 0;
  return server.status === "online" || isComing(server.status) ? 1 : 0;
}

const noteCharacters = 160;

function toNote(server: ServerOverview): string {
  if (server.status === "online") return server.dormant ? "starts when it is called" : "";
  if (isComing(server.status)) return "still starting";
  return toCell(server.reason, noteCharacters);
}

function toTotals({ servers, tokensFlat, tokensHere, areTokensExact }: Overview): string {
  const tools = servers.reduce((sum, server) => sum + server.tools.length, 0);
  const counts =
    `${servers.length} ${servers.length === 1 ? "server" : "servers"}, ` +
    `${tools} ${tools === 1 ? "tool" : "tools"}.`;
  const about = areTokensExact ? "" : "about ";
  return tokensFlat <= tokensHere
    ? `  ${counts} A model reads ${about}${countText(tokensHere)} tokens of definitions.`
    : `  ${counts} A model reads ${about}${countText(tokensHere)} tokens of definitions, instead of ` +
        `${countText(tokensFlat)} for all tools.`;
}

function tokenHint({ isOpen }: StartupReport["gateway"]): string {
  return isOpen ? "" : ' --header "Authorization: Bearer <token>"';
}

/** `toolyard serve --verbose`: prints one line for each call when it ends, never its arguments or its result. */
export function followCalls(events: Pick<EventBus, "on">, print: (line: string) => void): () => void {
  return events.on(["mcp.request.logs"], (event) => print(toCallLine(event)));
}

/** A line such as `14:02:11 everything:get-sum  ok  3 ms`. */
export function toCallLine({ atMs, server, method, name, outcome, durationMs }: EventOf<"mcp.request.logs">): string {
  const time = new Date(atMs).toTimeString().slice(0, 8);
  const what = method === "tools/call" ? `${server}:${name}` : `${server} ${method} ${name}`;
  return `${time} ${plainText(what).trimEnd()}  ${plainText(outcome)}  ${Math.round(durationMs)} ms\n`;
}
