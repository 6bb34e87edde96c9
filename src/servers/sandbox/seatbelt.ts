import { rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { SandboxRules } from "../../config/config.ts";
import { toSpawnFailure } from "../process/open-process.ts";
import type { Confined, WantedProcess } from "../upstream/stdio/server-process.ts";
import { findIn } from "./bubblewrap.ts";
import {
  hasNames,
  innerEnvironment,
  makeHome,
  toTreeLimits,
  type FoundEngine,
  type NoEngine,
} from "./confined-parts.ts";
import type { OwnPlaces } from "./guarded-places.ts";
import { planSandbox, type SandboxPlan } from "./sandbox-plan.ts";

/** What a profile is made from. */
export interface SeatbeltShape {
  readonly plan: SandboxPlan;
  /** The server's own folder, for its home and its temporary files. */
  readonly folder: string;
  readonly network: "host" | "none";
}

/** What programs of macOS read to start at all. */
const systemPlaces: readonly string[] = [
  ..."/usr /bin /sbin /System /Library/Apple /Library/Frameworks /private/etc /private/var/db/dyld".split(" "),
  ..."/private/var/db/timezone /private/var/select /opt/homebrew /usr/local".split(" "),
];
const devices: readonly string[] = ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/dtracehelper"];
/** Keys of the user, and of the machine, that lie within these. */
const neverRead: readonly string[] = ["/private/etc/master.passwd", "/private/etc/sudoers", "/private/etc/ssh"];

/**
 * The text of a profile: all is denied that it does not allow, and later rules win. Paths are without links, as the
 * system compares them. Pure.
 */
export function seatbeltProfile({ plan, folder, network }: SeatbeltShape): string {
  const read = [...systemPlaces, ...plan.visible.map(({ source }) => source), folder];
  const write = [...plan.visible.filter(({ isWritable }) => isWritable).map(({ source }) => source), folder];
  const subpaths = (places: readonly string[]): string =>
    places.map((place) => `\n  (subpath ${quoted(place)})`).join("");
  const literals = (places: readonly string[]): string =>
    places.map((place) => `\n  (literal ${quoted(place)})`).join("");
  const hidden = [...neverRead, ...plan.hidden.map(({ path }) => path)];
  return [
    "(version 1)",
    "(deny default)",
    "(allow process-fork)",
    "(allow signal (target same-sandbox))",
    "(allow sysctl-read)",
    '(allow mach-lookup (global-name "com.apple.system.notification_center"))',
    "(allow file-read-metadata)",
    `(allow process-exec file-read*${subpaths(read)})`,
    `(allow file-read*${literals(["/", ...devices])})`,
    `(allow file-write*${subpaths(write)}${literals(["/dev/null"])})`,
    `(deny file-read* file-write*${subpaths(hidden)})`,
    // Its own folder is in the data directory, which a wider place may have brought along.
    `(allow file-read* file-write*${subpaths([folder])})`,
    // The profile lies in it, and is for no server to change.
    `(deny file-write*${literals([join(folder, profileName)])})`,
    network === "host" ? "(allow network*)\n(allow system-socket)" : "(deny network*)",
    "",
  ].join("\n");
}

const profileName = "profile.sb";

/** A string of the profile's language: only these two characters mean something in one. Pure. */
function quoted(path: string): string {
  return `"${path.replaceAll(/[\\"]/g, String.raw`\$&`)}"`;
}

/** Seatbelt is a part of macOS. Never rejects. */
export async function probeSeatbelt(): Promise<FoundEngine | NoEngine> {
  if (process.platform !== "darwin")
    return { why: "Seatbelt is a part of macOS", hint: "Choose bubblewrap, docker or podman." };
  const file = await findIn("/usr/bin", "sandbox-exec");
  if (file === undefined) return { why: "`sandbox-exec` is missing", hint: "It is a part of macOS." };
  return {
    name: "Seatbelt",
    lacks: seatbeltLacks,
    prepare: async (wanted, own) => await prepareSeatbelt(wanted, file, own),
  };
}

/** Why Seatbelt cannot confine a server with these rules. Pure. */
export function seatbeltLacks(rules: SandboxRules): NoEngine | undefined {
  if (rules.image !== undefined)
    return { why: "Seatbelt takes no image", hint: "Take `image` out, or add `engine`: docker or podman." };
  if (hasNames(rules))
    return {
      why: "Seatbelt cannot hold a server to hosts by their names",
      hint: 'Write `"network": []` or `"host"` in `sandbox`.',
    };
  if (rules.browser)
    return { why: "a browser cannot make its own sandbox in Seatbelt", hint: "Take `browser` out of `sandbox`." };
  return undefined;
}

async function prepareSeatbelt(wanted: WantedProcess, file: string, own: OwnPlaces): Promise<Confined> {
  const plan = await planSandbox(wanted, wanted.env, own);
  if (plan.command === undefined)
    throw toSpawnFailure({ code: "ENOENT" }, { command: wanted.command, cwd: wanted.cwd });
  for (const note of plan.notes) wanted.onNote(note);
  const home = await makeHome(own, wanted.instance);
  const folder = dirname(home);
  const profile = join(folder, profileName);
  const network = wanted.sandbox.network === "host" ? "host" : "none";
  const env = { ...innerEnvironment(wanted), HOME: home, TMPDIR: home };
  await writeFile(profile, seatbeltProfile({ plan, folder, network }), { mode: 0o600 });
  return {
    isConfined: true,
    ...{ command: file, args: ["-f", profile, plan.command, ...wanted.args] },
    // Nothing is mounted elsewhere: its home is where it lies.
    ...{ env: { ...env, ...wanted.given }, cwd: home, pipeCount: 0 },
    limits: toTreeLimits(wanted.sandbox),
    isEngine: () => false,
    begin: async () => await Promise.resolve(),
    end: async () => await rm(profile, { force: true }),
  };
}
