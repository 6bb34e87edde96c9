import { createHash, randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { SandboxRules } from "../../config/config.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { TreeLimits } from "../process/guardian/watchdog.ts";
import { readDescendants, readName } from "../process/process-table.ts";
import { toSpawnFailure } from "../process/open-process.ts";
import type { Confine, Confined, ConfinedPipes, WantedProcess } from "../upstream/stdio/server-process.ts";
import {
  bubblewrapArguments,
  limitedCommand,
  mostTasks,
  probeBubblewrap,
  type Bubblewrap,
  type NoBubblewrap,
  type SandboxShape,
} from "./bubblewrap.ts";
import { createAllowedNames } from "./egress/allowed-names.ts";
import { serveEgress } from "./egress/egress.ts";
import { openSockets } from "./egress/namespace-sockets.ts";
import type { OwnPlaces } from "./guarded-places.ts";
import { innerHome } from "./program-places.ts";
import { planSandbox } from "./sandbox-plan.ts";
import { createTaskLimit, type TaskLimit } from "./task-limit.ts";

export interface SandboxDeps {
  /** Called for each start, because the configuration may be another one by then. */
  readonly own: () => OwnPlaces;
  /** The gateway's own PATH, in which its engine is looked for. */
  readonly path: string;
}

/** Confines processes of servers with bubblewrap. Nothing is started before the first one. */
export interface Sandbox {
  readonly confine: Confine;
  /** Whether this machine can confine, as it was found out at the first need. */
  probe(): Promise<Bubblewrap | NoBubblewrap>;
}

/** For how long a machine that cannot confine is not asked again. */
const probeAgainMs = 30_000;

/** No machine has been looked at yet. */
export function createSandbox(deps: SandboxDeps): Sandbox {
  let probed: { readonly found: Promise<Bubblewrap | NoBubblewrap>; readonly atMs: number } | undefined;

  async function probe(): Promise<Bubblewrap | NoBubblewrap> {
    const known = probed;
    if (known !== undefined) {
      const found = await known.found;
      if (!("why" in found) || performance.now() - known.atMs < probeAgainMs) return found;
      if (probed !== known) return await probe();
    }
    probed = { found: probeBubblewrap(deps.path), atMs: performance.now() };
    return await probed.found;
  }

  return {
    probe,
    async confine(wanted, signal) {
      const here = await probe();
      signal.throwIfAborted();
      if ("why" in here) {
        if (wanted.sandbox.isOptional) return { isConfined: false, why: here.why };
        throw new GatewayError("SANDBOX_UNAVAILABLE", `the server is to run in a sandbox, and ${here.why}`, {
          hint: here.hint,
        });
      }
      return await prepareStart(wanted, here, deps.own());
    },
  };
}

/** Folders of confined servers in the data directory, by instance. */
export function homeOf(dataDir: string, instance: string): string {
  const name = instance.replaceAll(/[^a-zA-Z0-9_-]+/g, "-").slice(0, 40);
  const hash = createHash("sha256").update(instance).digest("hex").slice(0, 12);
  return join(dataDir, "sandboxes", `${name}-${hash}`);
}

/** Descriptors of bubblewrap, after the three that the server has. */
const descriptors = { innerArguments: 3, resolvConf: 4, hosts: 5, info: 6, wait: 7 } as const;
const pipeCount = 5;
const hostsText = "127.0.0.1 localhost\n::1 localhost\n";

/** Names of variables that bubblewrap's own loader would obey, before anything is confined. */
const loaderVariable = /^(?:LD_|GLIBC_|GCONV_|MALLOC_)/;
const proxyVariable = /^(?:https?|all|no)_proxy$/i;
/** Folders of the gateway's user, which are not there inside. */
const homeVariable = /^(?:HOME|TMPDIR|XDG_(?:CACHE|CONFIG|DATA|STATE|RUNTIME)_(?:HOME|DIR))$/;

interface Start {
  readonly wanted: WantedProcess;
  readonly here: Bubblewrap;
  readonly limit: TaskLimit | undefined;
  /** Left to be done when the tree has ended. */
  readonly ends: (() => void | Promise<void>)[];
}

/** Decides what the process sees, and makes its home. Nothing runs yet. */
async function prepareStart(wanted: WantedProcess, here: Bubblewrap, own: OwnPlaces): Promise<Confined> {
  const rules = wanted.sandbox;
  if (hasNames(rules) && here.nsenter === undefined)
    throw new GatewayError(
      "SANDBOX_UNAVAILABLE",
      "the server is to reach the names in `sandbox.network`, and `nsenter` of util-linux is not installed",
    );
  const env = innerEnvironment(wanted);
  const name = `${process.pid}-${randomBytes(6).toString("hex")}`;
  const limiting = createTaskLimit(name, mostTasks(rules.processes));
  const { plan, home } = await planStart(wanted, env, own).catch(async (error: unknown) => {
    await (await limiting)?.remove();
    throw error;
  });
  const limit = await limiting;
  const loaderVariables = Object.entries(env).filter(([name]) => loaderVariable.test(name));
  const shape = toShape(wanted, { plan, home, loaderVariables });
  const start: Start = { wanted, here, limit, ends: limit === undefined ? [] : [limit.remove] };
  const fromPipe = ["--args", String(descriptors.innerArguments), "--"];
  const inner = [here.file, ...fromPipe, ...limitedCommand(shape, here)];
  const waits = hasNames(rules) || limit !== undefined;
  const [command = "", ...args] = waits ? [...outer(here, hasNames(rules)), ...inner] : inner;
  return {
    isConfined: true,
    command,
    args,
    cwd: "/",
    env: Object.fromEntries(Object.entries(env).filter(([variable]) => !loaderVariable.test(variable))),
    pipeCount,
    limits: toTreeLimits(rules),
    isEngine: (pid) => readName(pid) === "bwrap",
    begin: async (pid, pipes, signal) =>
      await begin(start, { pid, pipes, words: bubblewrapArguments(shape, here) }, signal),
    async end() {
      for (const end of start.ends.splice(0)) await end();
    },
  };
}

/** What it sees, and its home. */
async function planStart(wanted: WantedProcess, env: Readonly<Record<string, string>>, own: OwnPlaces) {
  const plan = await planSandbox(wanted, env, own);
  if (plan.command === undefined)
    throw toSpawnFailure({ code: "ENOENT" }, { command: wanted.command, cwd: wanted.cwd });
  for (const note of plan.notes) wanted.onNote(note);
  const home = join(homeOf(own.dataDir, wanted.instance), "home");
  await mkdir(home, { recursive: true, mode: 0o700 });
  return { plan, home };
}

function toShape(
  { sandbox: rules, cwd, args }: WantedProcess,
  made: Pick<SandboxShape, "plan" | "home" | "loaderVariables">,
): SandboxShape {
  const { memoryMb, processes, tmpMb, browser } = rules;
  const user = process.getuid?.() ?? 0;
  return {
    ...made,
    ...{ cwd, args, memoryMb, processes, tmpMb, browser },
    keepsNetwork: hasNames(rules) || rules.network === "host",
    files: hasNames(rules) ? descriptors : {},
    // Browsers refuse to run as root, and programs that are root inside expect to be able to do more.
    uid: user === 0 ? 1_000 : user,
  };
}

interface Begun {
  readonly pid: number;
  readonly pipes: ConfinedPipes;
  readonly words: readonly string[];
}

/** Gives bubblewrap what it waits for. When it resolves, the server's program is being started. */
async function begin(
  { wanted, here, limit, ends }: Start,
  { pid, pipes, words }: Begun,
  signal: AbortSignal,
): Promise<void> {
  const at = (descriptor: number) => pipes[descriptor - 3] as ConfinedPipes[number];
  at(descriptors.innerArguments).end(`${words.join("\0")}\0`);
  at(descriptors.resolvConf).end("nameserver 127.0.0.1\n");
  at(descriptors.hosts).end(hostsText);
  const { sandbox: rules, onDenied, onReached } = wanted;
  if (hasNames(rules) || limit !== undefined) {
    const held = await readChild(at(descriptors.info), signal);
    // Bubblewrap has ended instead: its exit says more than we know.
    if (held === undefined) return;
    // The limit waits for the kernel, and the sockets for a program that starts: both at once.
    const holding = limit?.hold([pid, ...(readDescendants(pid) ?? []), held]);
    if (hasNames(rules)) {
      const names = createAllowedNames(rules.network);
      const sockets = await openSockets({ nsenter: here.nsenter ?? "", pid: held, ports: names.ports }, signal);
      ends.push(serveEgress(sockets, { names, onDenied, onReached }));
    }
    await holding;
  }
  at(descriptors.info).destroy();
  at(descriptors.wait).end("\n");
}

function hasNames(rules: SandboxRules): rules is SandboxRules & { readonly network: readonly string[] } {
  return rules.network !== "host" && rules.network.length > 0;
}

function toTreeLimits({ memoryMb, processes }: SandboxRules): TreeLimits {
  // Bubblewrap itself takes up to four of them.
  return { processes: processes + 4, residentBytes: memoryMb * 1024 ** 2 };
}

/**
 * A bubblewrap around bubblewrap. It makes the network, and waits until that has its sockets; or only waits, until it
 * is under a limit.
 */
function outer({ file }: Bubblewrap, hasNetwork: boolean): readonly string[] {
  const user = ["--unshare-user", "--uid", "0", "--gid", "0", "--cap-add", "CAP_SETFCAP"];
  return [
    file,
    ...["--bind", "/", "/", "--dev-bind", "/dev", "/dev", "--die-with-parent"],
    ...user,
    ...(hasNetwork ? ["--unshare-net"] : []),
    ...["--info-fd", String(descriptors.info), "--block-fd", String(descriptors.wait), "--"],
  ];
}

function innerEnvironment({ env, sandbox, given }: WantedProcess): Readonly<Record<string, string>> {
  const kept = Object.entries(env).filter(
    ([name]) => name in given || !(homeVariable.test(name) || (sandbox.network !== "host" && proxyVariable.test(name))),
  );
  return { HOME: innerHome, ...Object.fromEntries(kept) };
}

const infoBytes = 4_096;

/** The pid of the process that waits; undefined when bubblewrap has ended instead. */
async function readChild(pipe: ConfinedPipes[number], signal: AbortSignal): Promise<number | undefined> {
  return await new Promise((resolve) => {
    let text = "";
    const done = (pid: number | undefined): void => {
      signal.removeEventListener("abort", onEnd);
      pipe.off("data", onData).off("end", onEnd).off("close", onEnd);
      resolve(pid);
    };
    const onEnd = (): void => done(undefined);
    const onData = (chunk: Buffer): void => {
      text += chunk.toString();
      const pid = /"child-pid"\s*:\s*(\d+)/.exec(text)?.[1];
      if (pid !== undefined || text.length > infoBytes) done(pid === undefined ? undefined : Number(pid));
    };
    signal.addEventListener("abort", onEnd, { once: true });
    pipe.on("data", onData).once("end", onEnd).once("close", onEnd);
  });
}
