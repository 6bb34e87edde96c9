import { spawn } from "node:child_process";
import { lstat, readdir, readFile, readlink, realpath, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { NoEngine } from "./confined-parts.ts";
import { innerHome, systemFolders } from "./program-places.ts";
import type { SandboxPlan } from "./sandbox-plan.ts";

/** Bubblewrap as it is on this machine, after it has confined something once. */
export interface Bubblewrap {
  readonly file: string;
  readonly version: string;
  /** Whether it can forbid further user namespaces (0.8 and newer). */
  readonly forbidsNamespaces: boolean;
  /** `prlimit` of util-linux, which sets limits; undefined where there is none. */
  readonly prlimit: string | undefined;
  /** `nsenter` of util-linux, which opens sockets in a sandbox's network; undefined where there is none. */
  readonly nsenter: string | undefined;
  readonly system: SystemLayout;
}

/** What of the system every sandbox has. */
export interface SystemLayout {
  readonly folders: readonly string[];
  readonly links: readonly (readonly [link: string, target: string])[];
  /** Files and folders in /etc that not everybody may read, which a gateway of root could. */
  readonly privateEtc: readonly { readonly path: string; readonly isFolder: boolean }[];
  /** Where /etc/resolv.conf and /etc/hosts really are. */
  readonly resolvConf: string;
  readonly hosts: string;
}

/** What the inner process gets that is written by us, not bound. */
export interface WrittenFiles {
  /** The descriptor from which bubblewrap reads the text of each file. */
  readonly resolvConf?: number;
  readonly hosts?: number;
}

export interface SandboxShape {
  readonly plan: SandboxPlan;
  /** The folder on this machine that is the server's home. */
  readonly home: string;
  readonly cwd: string;
  readonly args: readonly string[];
  /** Variables that would change bubblewrap itself. */
  readonly loaderVariables: readonly (readonly [name: string, value: string])[];
  /** Whether the process keeps the network that bubblewrap was started in. */
  readonly keepsNetwork: boolean;
  readonly files: WrittenFiles;
  readonly memoryMb: number;
  readonly processes: number;
  readonly tmpMb: number;
  readonly browser: boolean;
  /** The user that the process is to its own eyes. */
  readonly uid: number;
}

const mebibyte = 1024 ** 2;
/** Threads count like processes, and programs have several. */
const threadsPerProcess = 8;

/** How many processes and threads the kernel allows where `processes` are wanted. */
export function mostTasks(processes: number): number {
  return processes * threadsPerProcess;
}

/** The arguments of bubblewrap, without the program that is started. Pure. */
export function bubblewrapArguments(shape: SandboxShape, here: Bubblewrap): readonly string[] {
  const { plan, home, browser, uid } = shape;
  const { system } = here;
  const kernel = ["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try"];
  return [
    ...kernel,
    ...(shape.keepsNetwork ? [] : ["--unshare-net"]),
    ...["--uid", String(uid), "--gid", String(uid), "--hostname", "sandbox", "--cap-drop", "ALL"],
    ...["--new-session", "--die-with-parent"],
    ...(here.forbidsNamespaces && !browser ? ["--disable-userns"] : []),
    ...system.folders.flatMap((folder) => ["--ro-bind", folder, folder]),
    ...system.links.flatMap(([link, target]) => ["--symlink", target, link]),
    ...["--proc", "/proc", "--dev", "/dev"],
    ...["--perms", "1777", "--size", String(shape.tmpMb * mebibyte), "--tmpfs", "/tmp"],
    ...(browser ? ["--perms", "1777", "--size", String(shape.tmpMb * mebibyte), "--tmpfs", "/dev/shm"] : []),
    ...["--bind", home, innerHome],
    ...["--dir", shape.cwd],
    ...placeArguments(plan, system),
    ...fileArguments(shape.files, system),
    ...shape.loaderVariables.flatMap(([name, value]) => ["--setenv", name, value]),
    ...["--chdir", shape.cwd],
  ];
}

/** A place within another comes after it: bubblewrap mounts in order. */
function placeArguments({ visible, hidden }: SandboxPlan, { privateEtc }: SystemLayout): readonly string[] {
  const shown = visible.map(({ source, target, isWritable }) => ({
    target,
    words: [isWritable ? "--bind" : "--ro-bind", source, target],
  }));
  const masked = [...privateEtc, ...hidden].map(({ path, isFolder }) => ({
    target: path,
    words: isFolder ? ["--perms", "0755", "--tmpfs", path, "--remount-ro", path] : ["--ro-bind", "/dev/null", path],
  }));
  return [...masked, ...shown].sort((a, b) => a.target.length - b.target.length).flatMap(({ words }) => words);
}

function fileArguments({ resolvConf, hosts }: WrittenFiles, system: SystemLayout): readonly string[] {
  if (resolvConf === undefined || hosts === undefined)
    // A link to /run leads nowhere inside.
    return system.resolvConf.startsWith("/etc/") ? [] : ["--ro-bind-try", system.resolvConf, system.resolvConf];
  return [
    ...["--ro-bind-data", String(resolvConf), system.resolvConf],
    ...["--ro-bind-data", String(hosts), system.hosts],
  ];
}

/** The program that is started inside, with its limits where this machine can set them. Pure. */
export function limitedCommand(
  shape: Pick<SandboxShape, "plan" | "args" | "memoryMb" | "processes">,
  { prlimit }: Pick<Bubblewrap, "prlimit">,
): readonly string[] {
  const command = [shape.plan.command ?? "", ...shape.args];
  if (prlimit === undefined) return command;
  const tasks = mostTasks(shape.processes);
  const bytes = shape.memoryMb * mebibyte;
  return [prlimit, `--nproc=${tasks}:${tasks}`, `--data=${bytes}:${bytes}`, "--core=0:0", "--", ...command];
}

/** Finds out, by confining `true`, whether bubblewrap works here. Takes some milliseconds. Never rejects. */
export async function probeBubblewrap(path: string): Promise<Bubblewrap | NoEngine> {
  const file = await findIn(path, "bwrap");
  if (file === undefined)
    return {
      why: "bubblewrap is not installed",
      hint: "Install it, on Debian and Ubuntu with `apt install bubblewrap`.",
    };
  const [{ text: version }, { text: help }, prlimit, nsenter, system] = await Promise.all([
    runBriefly(file, ["--version"]),
    runBriefly(file, ["--help"]),
    findIn("/usr/bin:/bin", "prlimit"),
    findIn(path, "nsenter"),
    systemLayout(),
  ]);
  const forbidsNamespaces = help.includes("--disable-userns");
  const confine = ["--unshare-user", "--unshare-pid", "--unshare-net", "--ro-bind", "/", "/", "--proc", "/proc"];
  const { code, text } = await runBriefly(file, [
    ...confine,
    ...(forbidsNamespaces ? ["--disable-userns"] : []),
    "true",
  ]);
  if (code !== 0) return await explainRefusal(text);
  return { file, version: version.trim().split(" ").at(-1) ?? "", forbidsNamespaces, prlimit, nsenter, system };
}

/** What AppArmor needs to be told on Ubuntu, where it keeps programs without a profile from making namespaces. */
export const apparmorProfile = `abi <abi/4.0>,
include <tunables/global>
profile bwrap /usr/bin/bwrap flags=(unconfined) {
  userns,
  include if exists <local/bwrap>
}
`;

async function explainRefusal(said: string): Promise<NoEngine> {
  const line = said.trim().split("\n").at(-1) ?? "";
  const why = `the system refuses bubblewrap its namespaces${line === "" ? "" : ` (${line.slice(0, 200)})`}`;
  const read = async (name: string): Promise<string> => await readFile(`/proc/sys/${name}`, "utf8").catch(() => "");
  if ((await read("kernel/apparmor_restrict_unprivileged_userns")).trim() === "1")
    return { why, hint: "AppArmor needs a profile for it: `toolyard doctor` prints one." };
  if ((await read("kernel/unprivileged_userns_clone")).trim() === "0")
    return { why, hint: "Set the system's `kernel.unprivileged_userns_clone` to 1." };
  if ((await read("user/max_user_namespaces")).trim() === "0")
    return { why, hint: "Set the system's `user.max_user_namespaces` to more than 0." };
  return { why, hint: "In a container, allow user namespaces, or run the gateway outside of it." };
}

/** A program in the folders of PATH. */
export async function findIn(path: string, name: string): Promise<string | undefined> {
  for (const folder of path.split(":").filter((one) => one.startsWith("/"))) {
    const file = join(folder, name);
    const isProgram = await stat(file).then(
      (found) => found.isFile() && (found.mode & 0o111) !== 0,
      () => false,
    );
    if (isProgram) return file;
  }
  return undefined;
}

const probeMs = 5_000;
const longestOutput = 100_000;

export interface BriefRun {
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
}

/** Runs a program to its end, and resolves to the first that it wrote. Never rejects. */
export async function runBriefly(
  file: string,
  args: readonly string[],
  { env = {}, timeoutMs = probeMs }: BriefRun = {},
): Promise<{ code: number | null; text: string }> {
  return await new Promise((done) => {
    const child = spawn(file, args, { stdio: ["ignore", "pipe", "pipe"], timeout: timeoutMs, env });
    let text = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => (text = `${text}${chunk.toString()}`.slice(0, longestOutput)));
    child.once("error", (error) => done({ code: null, text: error.message }));
    child.once("close", (code) => done({ code, text }));
  });
}

async function systemLayout(): Promise<SystemLayout> {
  const folders: string[] = [];
  const links: (readonly [string, string])[] = [];
  for (const folder of [...systemFolders, "/etc", "/nix/store", "/gnu/store"]) {
    const found = await lstat(folder).catch(() => undefined);
    if (found?.isSymbolicLink() === true) links.push([folder, await readlink(folder)]);
    else if (found?.isDirectory() === true) folders.push(folder);
  }
  const target = async (file: string): Promise<string> =>
    await realpath(file).catch(async () => resolve(dirname(file), await readlink(file).catch(() => file)));
  return {
    folders,
    links,
    privateEtc: process.getuid?.() === 0 ? await privateIn("/etc", 2) : [],
    resolvConf: await target("/etc/resolv.conf"),
    hosts: await target("/etc/hosts"),
  };
}

async function privateIn(folder: string, depth: number): Promise<SystemLayout["privateEtc"]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const found = await Promise.all(
    entries.map(async (entry): Promise<SystemLayout["privateEtc"]> => {
      if (!entry.isFile() && !entry.isDirectory()) return [];
      const path = join(folder, entry.name);
      const isFolder = entry.isDirectory();
      const mode = await lstat(path).then(
        (one) => one.mode,
        () => 0o777,
      );
      if ((mode & (isFolder ? 0o001 : 0o004)) === 0) return [{ path, isFolder }];
      return isFolder && depth > 1 ? await privateIn(path, depth - 1) : [];
    }),
  );
  return found.flat();
}
