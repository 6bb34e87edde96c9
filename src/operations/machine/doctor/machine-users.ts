import { open, readFile } from "node:fs/promises";
import type { Config } from "../../../config/config.ts";
import { doubtful, fine, type Finding } from "./doctor-finding.ts";

/** Users with an account to log in with have these numbers (shadow-utils, UID_MIN and UID_MAX). */
const [firstUid, lastUid] = [1_000, 60_000];

/** Names of the other people who can log in on this machine, as `/etc/passwd` has them. */
export function otherPeople(passwd: string, ownUid: number): readonly string[] {
  return passwd.split("\n").flatMap((line) => {
    const [name = "", , uid = "", , , , shell = ""] = line.split(":");
    const number = Number(uid);
    const isPerson = /^\d+$/.test(uid) && number >= firstUid && number <= lastUid && number !== ownUid;
    return isPerson && !/(?:^|\/)(?:nologin|false|sync)$/.test(shell.trim()) ? [name] : [];
  });
}

/** Whether a gateway of this configuration asks for no credential. */
function isOpen({ settings, people }: Config): boolean {
  return !settings.team && settings.auth.tokenHashes.length === 0 && people.principals.size === 0;
}

/** What the start says where several people use the machine; undefined where it has nothing to say. */
export async function tellOthers(config: Config): Promise<string | undefined> {
  const ownUid = process.getuid?.();
  if (ownUid === undefined || !isOpen(config)) return undefined;
  const others = otherPeople(await readFile("/etc/passwd", "utf8").catch(() => ""), ownUid);
  if (others.length === 0) return undefined;
  const isRefused = await canTellApart();
  const who = others.length === 1 ? "Another person has an account" : `${others.length} other people have accounts`;
  const what = isRefused ? "their programs are refused" : "their programs can call every tool";
  return `${who} on this machine: ${what}. \`toolyard token new\` makes a token.`;
}

/** Whether the system has the tables that the gateway looks a connection's user up in. */
async function canTellApart(): Promise<boolean> {
  const table = process.platform === "linux" ? await open("/proc/net/tcp").catch(() => undefined) : undefined;
  await table?.close();
  return table !== undefined;
}

/** Whether programs of other users are kept out; undefined where a credential is asked for, or everybody is let in. */
export async function checkOtherUsers(config: Config): Promise<Finding | undefined> {
  if (!isOpen(config) || config.settings.auth.insecure) return undefined;
  if (await canTellApart()) return fine("programs of other users of this machine are refused");
  return doubtful(
    "the system does not say whose program a connection is from: those of other users can call every tool",
    "If others use this machine, make a token with `toolyard token new`.",
  );
}
