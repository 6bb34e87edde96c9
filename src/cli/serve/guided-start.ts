import type { Gateway } from "../../app/gateway.ts";
import { toSlug } from "../../config/words/slug.ts";
import { countText } from "../../kernel/text/number-text.ts";
import { toGatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import { dataDirectoryOf, readConfig } from "../../operations/machine/surroundings/surroundings.ts";
import type { CommandContext } from "../command/command-context.ts";
import { connectClients } from "./guide-connection.ts";
import { chooseServers, type ChosenServers } from "./guide-servers.ts";
import {
  readTarget,
  withServers,
  writeTarget,
  type ImportTarget,
} from "../../operations/machine/clients/import-target.ts";
import { showLive } from "./live-view.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import type { Stopping } from "./stopping.ts";
import type { TerminalScreen } from "../terminal/terminal-screen.ts";
import { thingsToAsk } from "./example-questions.ts";
import { askYes } from "../terminal/yes-or-no.ts";
import { sleep } from "../../kernel/runtime/abort.ts";
import { isComing } from "../../kernel/status-words.ts";
import type { ServerStatus } from "../../records/gateway-status.ts";
import { toCell, toInstanceText } from "../terminal/record-cells.ts";

interface TrialOptions {
  readonly gateway: Pick<Gateway, "glance">;
  readonly screen: TerminalScreen;
  readonly stopping: AbortSignal;
}

/** A first start may install packages. After this wait the results so far are shown, and the rest goes on. */
const longestTrialMs = 180_000;
const lookMs = 250;

/**
 * Shows how each server comes up: a line that stays once that is decided, and one line that counts while others are
 * still coming. Returns the servers that did not come up; empty as well when the gateway is to stop.
 */
async function watchTrial({ gateway, screen, stopping }: TrialOptions): Promise<readonly ServerStatus[]> {
  const told = new Set<string>();
  const failed: ServerStatus[] = [];
  const startedMs = performance.now();
  for (;;) {
    const { servers } = (await gateway.glance()).status;
    const wanted = servers.filter(({ status }) => status !== "disabled");
    for (const server of wanted) {
      if (isComing(server.status) || told.has(server.instance)) continue;
      told.add(server.instance);
      if (server.status !== "online") failed.push(server);
      screen.print(`${resultLine(server)}\n`);
    }
    const coming = wanted.filter(({ status }) => isComing(status));
    const waitedMs = performance.now() - startedMs;
    if (coming.length === 0 || waitedMs > longestTrialMs || stopping.aborted) break;
    const names = coming.map((server) => `${toInstanceText(server)} ${server.word}`).join(", ");
    screen.show([
      `  ${wanted.length - coming.length} of ${wanted.length} are up: ${names} (${Math.round(waitedMs / 1_000)} s)`,
    ]);
    await sleep(lookMs, stopping).catch(() => undefined);
  }
  screen.show([]);
  return stopping.aborted ? [] : failed;
}

/** What the handshake agreed on, and what it offers; or why it did not come up. */
function resultLine(server: ServerStatus): string {
  const name = toInstanceText(server);
  if (server.status !== "online") {
    const advice = server.next?.command ?? "";
    return `  ! ${name}  ${server.word}: ${toCell(server.reason, 160)}${advice === "" ? "" : `  (${advice})`}`;
  }
  const tools = `${countText(server.tools)} ${server.tools === 1 ? "tool" : "tools"}`;
  return `  + ${name}  answers as MCP ${server.revision ?? ""}: ${tools}, ${server.tokensExact ? "" : "about "}${countText(server.tokens)} tokens`;
}

/** A person who typed `toolyard` on a terminal, from the questions before the gateway starts to its live view. */
export interface TerminalVisit {
  /** With the configuration that was chosen. */
  readonly context: CommandContext;
  /** Shows the running gateway until it is to stop. Never rejects. */
  show(running: VisitedGateway): Promise<void>;
}

export interface VisitedGateway {
  readonly gateway: Pick<Gateway, "glance" | "listedBy" | "overview" | "events">;
  readonly url: string;
  readonly logFile: string | undefined;
  readonly log: Log;
  readonly screen: TerminalScreen;
  readonly stopping: Stopping;
}

/**
 * With servers in the configuration there is nothing to ask. Without any, servers are chosen first, and written after
 * a yes. `left` when the person left before that; then nothing was changed. Rejects as `readConfig` does.
 */
export async function openVisit(context: CommandContext): Promise<TerminalVisit | "left"> {
  const config = await readConfig(context);
  if (config.servers.length > 0) return { context, show: showSafely(showLiveView) };
  const target = await readTarget(context);
  // What `toolyard` finds here is a file that other programs share: the servers would go elsewhere and not be seen.
  const isOther = config.file !== undefined && config.file !== target.file;
  const { intro, log: say, outro } = await import("@clack/prompts");
  intro("Toolyard: your AI client connects once, and finds the tools of all your servers there");
  if (isOther)
    say.info(`${config.file} has no servers. What you choose goes into ${target.file}, which is used instead.`);
  const chosen = await chooseServers({
    context,
    target,
    dataDir: dataDirectoryOf(config, context),
    registryUrl: config.settings.registryUrl,
  });
  if (chosen === undefined) {
    outro("Nothing was changed.");
    return "left";
  }
  if (chosen === "none") return { context, show: showSafely(showLiveView) };
  await writeTarget(context, target, chosen.text);
  const guided = { ...context, flags: { ...context.flags, config: target.file } };
  return { context: guided, show: showSafely((running) => guide(running, { context: guided, target, chosen })) };
}

/** What goes wrong with a screen must not end a gateway that serves others. */
function showSafely(show: (running: VisitedGateway) => Promise<void>): TerminalVisit["show"] {
  return async (running) =>
    await show(running).catch((error: unknown) => {
      const { message } = toGatewayError(error);
      running.log.error({ component: "app", operation: "show", err: error }, message);
      running.screen.show([`${message} (the gateway goes on; Ctrl-C stops it)`]);
    });
}

async function showLiveView({ gateway, url, logFile, screen, stopping }: VisitedGateway): Promise<void> {
  await showLive({ gateway, url, logFile, screen, terminal: process.stderr, stopping: stopping.asked });
}

interface Guided {
  readonly context: CommandContext;
  readonly target: ImportTarget;
  readonly chosen: ChosenServers;
}

async function guide(running: VisitedGateway, guided: Guided): Promise<void> {
  const { gateway, screen, stopping } = running;
  const { log: say, outro } = await import("@clack/prompts");
  const asked = stopping.asked;
  say.step("Trying them");
  const failed = await watchTrial({ gateway, screen, stopping: asked });
  if (asked.aborted) return;
  if (failed.length > 0) await offerToTakeOut(guided, new Set(failed.map(({ server }) => server)));
  await tellSaving(gateway);
  if (!(await connectClients({ gateway, context: guided.context, stopping: asked }))) {
    outro(`${guided.target.file} stays as it is: \`toolyard\` goes on from there.`);
    stopping.ask("the guided start was left");
    return;
  }
  if (asked.aborted) return;
  const { servers } = await gateway.overview();
  const asks = thingsToAsk(servers).map((ask) => `  "${ask}"`);
  if (asks.length > 0) say.message(["Ask your client, for example:", ...asks].join("\n"));
  outro("It serves now, for as long as this terminal is open. `toolyard service install` makes it last.");
  await showLiveView(running);
}

/** A server that does not come up is tried again and again; not everybody wants to keep it. */
async function offerToTakeOut({ context, target, chosen }: Guided, failed: ReadonlySet<string>): Promise<void> {
  const { log: say } = await import("@clack/prompts");
  const good = chosen.servers.filter(([key]) => !failed.has(toSlug(key)));
  const bad = chosen.servers.filter(([key]) => failed.has(toSlug(key))).map(([key]) => key);
  if (bad.length === 0) return;
  if (await askYes(`Keep ${plainText(bad.join(", "))} in the configuration? They are tried again at the next start.`))
    return;
  const text = good.length === 0 ? (target.text ?? "{}\n") : withServers(target, good);
  await writeTarget(context, await readTarget(context), text);
  say.info(`Taken out: ${plainText(bad.join(", "))}.`);
}

async function tellSaving(gateway: Pick<Gateway, "overview">): Promise<void> {
  const { tokensFlat, tokensHere, areTokensExact } = await gateway.overview();
  if (tokensFlat <= tokensHere) return;
  const { log: say } = await import("@clack/prompts");
  const about = areTokensExact ? "" : "about ";
  const share = Math.floor((1 - tokensHere / tokensFlat) * 100);
  say.success(
    `A model reads ${about}${countText(tokensHere)} tokens of definitions here, instead of ${countText(tokensFlat)}: ${share} % less.`,
  );
}
