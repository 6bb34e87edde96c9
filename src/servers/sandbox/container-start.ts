import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { defaultTreeLimits } from "../process/guardian/watchdog.ts";
import { readStartTime } from "../process/process-table.ts";
import type { Confined, WantedProcess } from "../upstream/stdio/server-process.ts";
import { hasNames, hostsText, makeHome, nameServerText } from "./confined-parts.ts";
import { containerArguments, traceOf, type ContainerKind, type ContainerShape } from "./container-arguments.ts";
import { createAllowedNames } from "./egress/allowed-names.ts";
import { serveEgress } from "./egress/egress.ts";
import { openSockets } from "./egress/namespace-sockets.ts";
import { isWithin } from "../../config/words/wide-places.ts";
import type { OwnPlaces } from "./guarded-places.ts";
import { innerHome } from "./program-places.ts";
import { planSandbox } from "./sandbox-plan.ts";

/** docker or podman as it is on this machine. */
export interface ContainerEngine extends EngineCommand {
  /** Whether its containers belong to this user, and not to root. */
  readonly isRootless: boolean;
  /** `nsenter` of util-linux, where it can open sockets in the network of a container. */
  readonly nsenter: string | undefined;
}

interface EngineCommand {
  readonly kind: ContainerKind;
  readonly file: string;
  /** What the command needs, and nothing else of the gateway's environment. */
  readonly env: Readonly<Record<string, string>>;
}

interface Means {
  readonly engine: ContainerEngine;
  readonly own: OwnPlaces;
}

/**
 * Makes the container, which does not run yet; with podman also its network, so that the gateway's sockets are in it
 * before anything is. The process that is to be started is the engine's client, which holds the server's three streams.
 */
export async function prepareContainer(
  wanted: WantedProcess,
  { engine, own }: Means,
  signal: AbortSignal,
): Promise<Confined> {
  const { kind, file, env } = engine;
  const variables = containerVariables(wanted);
  const plan = await planSandbox(wanted, wanted.env, own);
  for (const note of plan.notes) wanted.onNote(note);
  const home = await makeHome(own, wanted.instance);
  const name = `${prefix}${process.pid}-${readStartTime(process.pid) ?? 0}-${randomBytes(6).toString("hex")}`;
  const empty = join(dirname(home), "empty");
  await mkdir(empty, { recursive: true, mode: 0o700 });
  const shape: ContainerShape = {
    ...{ name, kind, plan, home, empty, rules: wanted.sandbox, args: wanted.args },
    label: labelOf(own.dataDir),
    // A folder with nothing of the server is not there; one above its places is.
    cwd: plan.visible.some(({ target }) => isWithin(wanted.cwd, target) || isWithin(target, wanted.cwd))
      ? wanted.cwd
      : innerHome,
    ...{ user: userOf(engine), isRootless: engine.isRootless },
    variables,
    files: hasNames(wanted.sandbox) ? await writeNetworkFiles(dirname(home)) : [],
  };
  const run = async (words: readonly string[], given: Readonly<Record<string, string>> = {}): Promise<string> =>
    await runEngine(engine, { words, env: { ...env, ...given }, signal });
  await writeFile(traceOf(own.dataDir, kind), "", { mode: 0o600 });
  let endEgress: (() => void) | undefined;
  const end = async (): Promise<void> => {
    endEgress?.();
    await runEngine(engine, { words: ["rm", "--force", name], env, signal: undefined }).catch(() => undefined);
  };
  try {
    await run(containerArguments(shape), variables.inherited);
    if (kind === "podman") await run(["init", name]);
    if (hasNames(wanted.sandbox)) {
      const pid = Number(await run(["inspect", "--format", "{{.State.Pid}}", name]));
      const names = createAllowedNames(wanted.sandbox.network);
      const { nsenter = "", isRootless } = engine;
      const sockets = await openSockets({ nsenter, pid, ports: names.ports, hasOwnUsers: isRootless }, signal);
      endEgress = serveEgress(sockets, { names, onDenied: wanted.onDenied, onReached: wanted.onReached });
    }
  } catch (error) {
    await end();
    throw error;
  }
  return {
    isConfined: true,
    ...{ command: file, args: ["start", "--attach", "--interactive", name], env, cwd: "/", pipeCount: 0 },
    // The engine holds the server to its limits; this is the client of it.
    limits: defaultTreeLimits,
    isEngine: () => false,
    begin: async () => await Promise.resolve(),
    end,
  };
}

const prefix = "toolyard-";

/** Containers of one data directory. */
function labelOf(dataDir: string): string {
  return `toolyard.data=${createHash("sha256").update(dataDir).digest("hex").slice(0, 16)}`;
}

/** Who the process is inside: the gateway's user, whose files it then has. */
function userOf({ kind, isRootless }: ContainerEngine): string {
  // Rootless docker has its user as root inside; podman keeps the user's id, by `--userns keep-id`.
  if (isRootless && kind === "docker") return "0:0";
  return `${process.getuid?.() ?? 1_000}:${process.getgid?.() ?? 1_000}`;
}

async function writeNetworkFiles(folder: string): Promise<ContainerShape["files"]> {
  const written = { "/etc/resolv.conf": nameServerText, "/etc/hosts": hostsText };
  return await Promise.all(
    Object.entries(written).map(async ([target, text]) => {
      const source = join(folder, target.replace("/etc/", ""));
      await writeFile(source, text, { mode: 0o644 });
      return { source, target };
    }),
  );
}

const kept = /^(?:LANG|LANGUAGE|LC_.*|TZ)$/;
const places = /^(?:HOME|PATH|TMPDIR|USER|LOGNAME|XDG_.*)$/;
/** What an engine's command, or its loader, would itself obey. */
const obeyed =
  /^(?:(?:LD|GLIBC|GCONV|MALLOC|SSL_CERT|SSH_AUTH|DBUS|_?CONTAINERS?|DOCKER|PODMAN)_|GO(?:DEBUG|GC|MAXPROCS|MEMLIMIT|TRACEBACK)$)/;
const plainName = /^[A-Za-z_][\w.-]*$/;

/**
 * The server's variables. They are inherited by the engine's command, so that no command line has a value, except of
 * those that are places or names of users. Throws SANDBOX_REFUSED for what the command itself would obey.
 */
function containerVariables({ env, given }: Pick<WantedProcess, "env" | "given">): ContainerShape["variables"] {
  const all = Object.entries(env).filter(([name]) => name in given || kept.test(name));
  const wrong = all.find(([name]) => obeyed.test(name) || !plainName.test(name));
  if (wrong !== undefined)
    throw new GatewayError("SANDBOX_REFUSED", `the variable ${wrong[0]} of the entry would change the engine itself`, {
      hint: "Take it out of `env`, or set it in the image.",
    });
  const said = Object.fromEntries(all.filter(([name]) => places.test(name)));
  const inherited = Object.fromEntries(all.filter(([name]) => !places.test(name)));
  return { said: { HOME: innerHome, ...said }, inherited };
}

interface EngineOrder {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Undefined where it must be carried out whatever happens. */
  readonly signal: AbortSignal | undefined;
}

const orderMs = 60_000;
const longestAnswer = 20_000;

/** Resolves to what it answers. Rejects with SPAWN_FAILED and SANDBOX_UNAVAILABLE. */
async function runEngine({ kind, file }: EngineCommand, { words, env, signal }: EngineOrder): Promise<string> {
  signal?.throwIfAborted();
  const limits = { timeout: orderMs, ...(signal === undefined ? {} : { signal }) };
  const child = spawn(file, words, { stdio: ["ignore", "pipe", "pipe"], env, cwd: "/", ...limits });
  let [text, said] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (text = `${text}${chunk.toString()}`.slice(0, longestAnswer)));
  child.stderr.on("data", (chunk: Buffer) => (said = `${said}${chunk.toString()}`.slice(-longestAnswer)));
  const code = await new Promise<number | string | null>((done) => {
    child.once("error", (error) => done(error.message));
    child.once("close", done);
  });
  signal?.throwIfAborted();
  if (code === 0) return text.trim();
  const why = said.trim().split("\n").at(-1)?.slice(0, 300) ?? "";
  if (/no such image|image not known|unable to find image/i.test(said))
    throw new GatewayError("SANDBOX_UNAVAILABLE", `the server is to run in an image that ${kind} does not have`, {
      hint: `Get it with \`${kind} pull IMAGE\`: the gateway downloads none.`,
    });
  throw new GatewayError("SPAWN_FAILED", `${kind} could not make a container (${why === "" ? String(code) : why})`);
}

/** Removes containers that a gateway of this data directory left behind. Resolves to how many. */
export async function sweepContainers(engine: EngineCommand, dataDir: string): Promise<number> {
  const words = ["ps", "--all", "--filter", `label=${labelOf(dataDir)}`, "--format", "{{.Names}}"];
  const names = await runEngine(engine, { words, env: engine.env, signal: undefined });
  const all = names.split("\n").filter((name) => name !== "");
  const left = all.filter((name) => !isOfRunning(name));
  if (left.length > 0)
    await runEngine(engine, { words: ["rm", "--force", ...left], env: engine.env, signal: undefined });
  if (left.length === all.length) await rm(traceOf(dataDir, engine.kind), { force: true });
  return left.length;
}

/** Whether the gateway runs that made a container of this name. */
function isOfRunning(name: string): boolean {
  const [, pid = "", startTime = ""] = /^toolyard-(\d+)-(\d+)-/.exec(name) ?? [];
  if (process.platform === "linux") return readStartTime(Number(pid)) === startTime;
  try {
    return process.kill(Number(pid), 0);
  } catch {
    return false;
  }
}
