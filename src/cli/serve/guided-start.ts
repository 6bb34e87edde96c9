import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openDirectory } from "../../store/files/data-directory.ts";
import type { Gateway } from "../../app/gateway.ts";
import { toSlug } from "../../config/words/slug.ts";
import { countText } from "../../kernel/text/number-text.ts";
import { toGatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import { dataDirectoryOf, keepValues, readConfig } from "../../operations/machine/surroundings/surroundings.ts";
import type { CommandContext } from "../command/command-context.ts";
import { connectClients } from "./guide-connection.ts";
import { chooseServers, type ChosenServers } from "./guide-servers.ts";
import { askForValues } from "../setup/kept-values.ts";
import { readTarget } from "../../operations/machine/clients/import-target.ts";
import { withServers, writeTarget, type ImportTarget } from "../../operations/machine/clients/import-target.ts";
import { ownGateway, showLive } from "./live-view.ts";
import { findRunning, showRunning } from "./running-view.ts";
import { belowBar, besideBar, wrapText } from "../terminal/fitted-text.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import type { Stopping } from "./stopping.ts";
import type { TerminalScreen } from "../terminal/terminal-screen.ts";
import { thingsToAsk } from "./example-questions.ts";
import { askYes } from "../terminal/yes-or-no.ts";
import { sleep } from "../../kernel/runtime/abort.ts";
import { isComing, withReason } from "../../kernel/status-words.ts";
import type { ServerStatus } from "../../records/gateway-status.ts";
import { toCell, toInstanceText } from "../terminal/record-cells.ts";

/** A first start may install packages. After this wait the results so far are shown, and the rest goes on. */
const longestTrialMs = 180_000;
const lookMs = 250;

/**
 * Shows how each server comes up: a line that stays once that is decided, and one line that counts while others are
 * still coming. Returns the servers that did not come up; empty as well when the gateway is to stop.
 */
async function watchTrial(
  gateway: Pick<Gateway, "glance" | "overview">,
  screen: TerminalScreen,
  stopping: AbortSignal,
): Promise<readonly ServerStatus[]> {
  const told = new Set<string>();
  const failed: ServerStatus[] = [];
  const startedMs = performance.now();
  for (;;) {
    let { servers } = (await gateway.glance()).status;
    const isNew = ({ instance, status }: ServerStatus): boolean => status === "online" && !told.has(instance);
    if (servers.some((server) => isNew(server) && !server.tokensExact)) {
      // The number that is shown now is the one that is shown later.
      await gateway.overview({ isCounted: true });
      ({ servers } = (await gateway.glance()).status);
    }
    // One that lacks a value was not switched off by a person.
    const wanted = servers.filter(({ status, next }) => status !== "disabled" || next?.step === "correct");
    for (const server of wanted) {
      if (isComing(server.status) || told.has(server.instance)) continue;
      told.add(server.instance);
      if (server.status !== "online") failed.push(server);
      screen.print(`${wrapText(resultLine(server), screen.size().columns, "      ").join("\n")}\n`);
    }
    const coming = wanted.filter(({ status }) => isComing(status));
    const waitedMs = performance.now() - startedMs;
    if (coming.length === 0 || waitedMs > longestTrialMs || stopping.aborted) break;
    const names = coming.map((server) => `${toInstanceText(server)} ${server.word}`).join(", ");
    const up = wanted.filter(({ status }) => status === "online").length;
    const down = failed.length === 0 ? "" : `, ${failed.length} did not come up`;
    const waited = `${Math.round(waitedMs / 1_000)} s`;
    screen.show([`  ${up} of ${wanted.length} are up${down}; waiting for ${names} (${waited})`]);
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
    return `  ! ${name}  ${withReason(server.word, toCell(server.reason, 160))}${advice === "" ? "" : `  (${advice})`}`;
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
 * a yes. A gateway that runs already is shown instead of starting another one. The exit code after that, and when the
 * person left before anything was written. Rejects as `readConfig` does.
 */
export async function openVisit(context: CommandContext): Promise<TerminalVisit | number> {
  const running = await findRunning(context);
  if (running !== undefined) return await showRunning(running);
  const config = await readConfig(context);
  const dataDir = dataDirectoryOf(config, context);
  if (config.servers.length > 0) return await goOn(context, config.file, dataDir);
  const target = await readTarget(context);
  // What `toolyard` finds here is a file that other programs share: the servers would go elsewhere and not be seen.
  const isOther = config.file !== undefined && config.file !== target.file;
  const { intro, log: say, outro } = await import("@clack/prompts");
  intro("Toolyard: your AI client connects once, and has the tools of all servers");
  if (isOther)
    say.info(
      besideBar(`${config.file} has no servers. What you choose goes into ${target.file}, which is used instead.`),
    );
  const chosen = await chooseServers({ context, target, dataDir, registryUrl: config.settings.registryUrl });
  if (chosen === undefined) {
    outro("Nothing was changed.");
    return leftCode;
  }
  if (chosen === "none") return { context, show: showSafely(showLiveView) };
  if (Object.keys(chosen.values).length > 0) await keepValues(context, chosen.values);
  await writeTarget(context, target, chosen.text);
  const { file } = target;
  const mark = await leaveMark(dataDir, file);
  const guided = { ...context, flags: { ...context.flags, config: file } };
  await askForValues(guided, chosen.servers);
  const written = { target, chosen };
  return { context: guided, show: showSafely((running) => guide(running, { context: guided, file, mark, written })) };
}

/** Where a first start was left before a client was connected, it goes on there. */
async function goOn(context: CommandContext, file: string | undefined, dataDir: string): Promise<TerminalVisit> {
  const mark = markIn(dataDir);
  const left = await readFile(mark, "utf8").catch(() => undefined);
  if (file === undefined || left !== file) return { context, show: showSafely(showLiveView) };
  const { intro } = await import("@clack/prompts");
  intro("Toolyard: the first start goes on where it stopped");
  return { context, show: showSafely((running) => guide(running, { context, file, mark, written: undefined })) };
}

/** A file that says of which configuration the first start is not over. */
function markIn(dataDir: string): string {
  return join(dataDir, "first-start");
}

async function leaveMark(dataDir: string, file: string): Promise<string> {
  const mark = markIn(openDirectory(dataDir));
  // Without it, the next start asks nothing.
  await writeFile(mark, file, { mode: 0o600 }).catch(() => undefined);
  return mark;
}

const leftCode = 1;

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
  const foot = `Ctrl-C stops it${logFile === undefined ? "" : `   log: ${logFile}`}`;
  const shown = { gateway: ownGateway(gateway), url, foot, screen, terminal: process.stderr };
  await showLive({ ...shown, stopping: stopping.asked });
}

interface Guided {
  readonly context: CommandContext;
  readonly file: string;
  /** To be removed when there is nothing left to ask. */
  readonly mark: string;
  /** What this start has written; undefined where an earlier one did. */
  readonly written: Written | undefined;
}

interface Written {
  readonly target: ImportTarget;
  readonly chosen: ChosenServers;
}

async function guide(running: VisitedGateway, guided: Guided): Promise<void> {
  const { gateway, screen, stopping } = running;
  const { log: say, outro } = await import("@clack/prompts");
  const asked = stopping.asked;
  say.step("Trying them");
  const failed = await watchTrial(gateway, screen, asked);
  if (asked.aborted) return;
  const { context, file, mark, written } = guided;
  const failures = new Set(failed.map(({ server }) => server));
  if (failures.size > 0 && written !== undefined) await offerToTakeOut(context, written, failures);
  await tellSaving(gateway);
  if (!(await connectClients({ gateway, context, stopping: asked }))) {
    outro(belowBar(`${file} stays as it is: \`toolyard\` goes on from there.`));
    stopping.ask("the guided start was left");
    return;
  }
  if (asked.aborted) return;
  await rm(mark, { force: true });
  const { servers } = await gateway.overview();
  const asks = (await thingsToAsk(servers)).map((ask) => `  "${ask}"`);
  if (asks.length > 0) say.message(besideBar(["Ask your client, for example:", ...asks].join("\n")));
  outro(belowBar("It serves now, while this terminal is open. `toolyard service install` makes it last."));
  await showLiveView(running);
}

/** A server that does not come up is tried again and again; not everybody wants to keep it. */
async function offerToTakeOut(
  context: CommandContext,
  { target, chosen }: Written,
  failed: ReadonlySet<string>,
): Promise<void> {
  const { log: say } = await import("@clack/prompts");
  const good = chosen.servers.filter(([key]) => !failed.has(toSlug(key)));
  const bad = chosen.servers.filter(([key]) => failed.has(toSlug(key))).map(([key]) => key);
  if (bad.length === 0) return;
  if (await askYes(`Keep ${plainText(bad.join(", "))} in the configuration? They are tried again at the next start.`))
    return;
  const text = good.length === 0 ? (target.text ?? "{}\n") : withServers(target, good);
  await writeTarget(context, await readTarget(context), text);
  say.info(besideBar(`Taken out: ${plainText(bad.join(", "))}.`));
}

async function tellSaving(gateway: Pick<Gateway, "overview">): Promise<void> {
  const { tokensFlat, tokensHere, areTokensExact } = await gateway.overview({ isCounted: true });
  if (tokensFlat <= tokensHere) return;
  const { log: say } = await import("@clack/prompts");
  const about = areTokensExact ? "" : "about ";
  const share = Math.floor((1 - tokensHere / tokensFlat) * 100);
  say.success(
    besideBar(
      `A model reads ${about}${countText(tokensHere)} tokens of definitions here, instead of ${countText(tokensFlat)}: ${share} % less.`,
    ),
  );
}
