import { randomBytes } from "node:crypto";
import { toSpawnFailure } from "../process/open-process.ts";
import { readName } from "../process/process-table.ts";
import type { Confined, ConfinedPipes, WantedProcess } from "../upstream/stdio/server-process.ts";
import { bubblewrapArguments, limitedCommand, mostTasks, type Bubblewrap, type SandboxShape } from "./bubblewrap.ts";
import { hasNames, hostsText, innerEnvironment, makeHome, nameServerText, toTreeLimits } from "./confined-parts.ts";
import { createAllowedNames } from "./egress/allowed-names.ts";
import { serveEgress } from "./egress/egress.ts";
import { openSockets } from "./egress/namespace-sockets.ts";
import type { OwnPlaces } from "./guarded-places.ts";
import { planSandbox } from "./sandbox-plan.ts";
import { createTaskLimit } from "./task-limit.ts";

/** Descriptors of bubblewrap, after the three that the server has. */
const descriptors = { innerArguments: 3, resolvConf: 4, hosts: 5, info: 6, wait: 7 } as const;
const pipeCount = 5;

/** Names of variables that the loader, or a shell, would obey before anything is confined. */
const loaderVariable = /^(?:LD_|GLIBC_|GCONV_|MALLOC_|BASH|SHELLOPTS$|PS4$|ENV$)/;

interface Start {
  readonly wanted: WantedProcess;
  readonly here: Bubblewrap;
  /** Left to be done when the tree has ended. */
  readonly ends: (() => void | Promise<void>)[];
}

/** Decides what the process sees, and makes its home. Nothing runs yet. */
export async function prepareBubblewrap(wanted: WantedProcess, here: Bubblewrap, own: OwnPlaces): Promise<Confined> {
  const rules = wanted.sandbox;
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
  const start: Start = { wanted, here, ends: limit === undefined ? [] : [limit.remove] };
  const fromPipe = ["--args", String(descriptors.innerArguments), "--"];
  const inner = [here.file, ...fromPipe, ...limitedCommand(shape, here)];
  const [command = "", ...args] = [...(limit?.words ?? []), ...(hasNames(rules) ? outer(here) : []), ...inner];
  return {
    isConfined: true,
    command,
    args,
    cwd: "/",
    env: Object.fromEntries(Object.entries(env).filter(([variable]) => !loaderVariable.test(variable))),
    pipeCount,
    limits: toTreeLimits(rules),
    isEngine: (pid) => readName(pid) === "bwrap",
    begin: async (pipes, signal) => await begin(start, { pipes, words: bubblewrapArguments(shape, here) }, signal),
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
  return { plan, home: await makeHome(own, wanted.instance) };
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
  readonly pipes: ConfinedPipes;
  readonly words: readonly string[];
}

/** Gives bubblewrap what it waits for. When it resolves, the server's program is being started. */
async function begin({ wanted, here, ends }: Start, { pipes, words }: Begun, signal: AbortSignal): Promise<void> {
  const at = (descriptor: number) => pipes[descriptor - 3] as ConfinedPipes[number];
  at(descriptors.innerArguments).end(`${words.join("\0")}\0`);
  at(descriptors.resolvConf).end(nameServerText);
  at(descriptors.hosts).end(hostsText);
  const { sandbox: rules, onDenied, onReached } = wanted;
  if (hasNames(rules)) {
    const held = await readChild(at(descriptors.info), signal);
    // Bubblewrap has ended instead: its exit says more than we know.
    if (held === undefined) return;
    const names = createAllowedNames(rules.network);
    const sockets = await openSockets(
      { nsenter: here.nsenter ?? "", pid: held, ports: names.ports, hasOwnUsers: true },
      signal,
    );
    ends.push(serveEgress(sockets, { names, onDenied, onReached }));
  }
  at(descriptors.info).destroy();
  at(descriptors.wait).end("\n");
}

/** A bubblewrap around bubblewrap, which makes the network and waits until that has its sockets. */
function outer({ file }: Bubblewrap): readonly string[] {
  const user = ["--unshare-user", "--uid", "0", "--gid", "0", "--cap-add", "CAP_SETFCAP"];
  return [
    file,
    ...["--bind", "/", "/", "--dev-bind", "/dev", "/dev", "--die-with-parent"],
    ...user,
    "--unshare-net",
    ...["--info-fd", String(descriptors.info), "--block-fd", String(descriptors.wait), "--"],
  ];
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
