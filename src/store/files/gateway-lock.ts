import { randomBytes, randomUUID } from "node:crypto";
import { link, readFile, rename, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isJsonObject, type JsonObject } from "../../kernel/json-bytes.ts";
import type { GatewayHolder, GatewayLock } from "../gateway-holder.ts";
import { sealServed, type SealedServed, type Served } from "../served.ts";
import { replaceFile } from "./replace-file.ts";

/** Which lock to take, and what to write into it. */
export interface LockOptions {
  /** The gateway's folder, as `gateway-places.ts` assigned it. */
  readonly folder: string;
  readonly serves: Served;
  readonly version: string;
  /** The start time of a running process; undefined when there is no such process. */
  readonly startTimeOf: (pid: number) => string | undefined;
}

type LockClaim =
  | { readonly kind: "held"; readonly lock: GatewayLock }
  | { readonly kind: "taken"; readonly by: GatewayHolder };

const lockName = "gateway.lock";
/** Attempts to take the lock. In each failed one some other process made progress, so nobody fails this often. */
const mostRounds = 50;

/**
 * Takes the lock, or tells which gateway holds it. The lock of a gateway that ended without releasing it is taken
 * over. Throws when the lock file cannot be written.
 */
export async function claimGatewayLock(options: LockOptions): Promise<LockClaim> {
  const path = join(options.folder, lockName);
  const secret = randomBytes(32).toString("hex");
  const holder: GatewayHolder = {
    pid: process.pid,
    startTime: options.startTimeOf(process.pid) ?? null,
    secret,
    url: null,
    serves: sealServed(options.serves, secret),
    version: options.version,
  };
  for (let round = 0; round < mostRounds; round += 1) {
    if (await createWhole(path, JSON.stringify(holder))) return { kind: "held", lock: toLock(path, holder) };
    const text = await readText(path);
    const other = text === undefined ? undefined : parseHolder(text);
    if (other !== undefined && isAlive(other, options.startTimeOf)) return { kind: "taken", by: other };
    if (text !== undefined) await removeExactly(path, text);
  }
  throw new Error(`${path} cannot be taken`);
}

/** The gateway that holds the lock now; undefined when none does. */
export async function readGatewayHolder(
  options: Pick<LockOptions, "folder" | "startTimeOf">,
): Promise<GatewayHolder | undefined> {
  const text = await readText(join(options.folder, lockName));
  const holder = text === undefined ? undefined : parseHolder(text);
  return holder !== undefined && isAlive(holder, options.startTimeOf) ? holder : undefined;
}

function toLock(path: string, first: GatewayHolder): GatewayLock {
  let holder = first;
  let text = JSON.stringify(holder);
  let writing: Promise<void> = Promise.resolve();

  /** Changes are written one after the other, so that the last one is what remains. */
  async function change(changes: Partial<GatewayHolder>): Promise<void> {
    holder = { ...holder, ...changes };
    writing = writing
      .catch(() => undefined)
      .then(async () => {
        const next = JSON.stringify(holder);
        await replaceFile(path, next);
        text = next;
      });
    await writing;
  }

  return {
    secret: first.secret,
    announce: async (url) => await change({ url }),
    announceServed: async (serves) => await change({ serves: sealServed(serves, first.secret) }),
    async [Symbol.asyncDispose]() {
      await writing.catch(() => undefined);
      if ((await readText(path)) === text) await unlink(path).catch(() => undefined);
    },
  };
}

/** Creates a file with all of its content at once, readable by its owner only. Returns false when the file exists. */
async function createWhole(path: string, text: string): Promise<boolean> {
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    await writeFile(temporary, text, { mode: 0o600, flag: "wx" });
    await link(temporary, path);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    if (!withoutLinks.has(codeOf(error))) throw error;
    return await createInPlace(path, text);
  } finally {
    await unlink(temporary).catch(() => undefined);
  }
}

/** Error codes of file systems that do not support hard links. */
const withoutLinks: ReadonlySet<unknown> = new Set(["EPERM", "ENOSYS", "ENOTSUP", "EOPNOTSUPP", "EMLINK"]);

/**
 * Without links, a reader may see the file half-written and take it for a stale one. That is still better than no
 * lock.
 */
async function createInPlace(path: string, text: string): Promise<boolean> {
  try {
    await writeFile(path, text, { mode: 0o600, flag: "wx" });
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

/**
 * Removes a stale lock and no other. Two gateways may find it at the same time, and the slower one must not remove
 * the lock that the faster one has made since. So the file is moved aside first, and put back when its content is not
 * the expected one.
 */
async function removeExactly(path: string, text: string): Promise<void> {
  const aside = `${path}.${randomUUID()}.stale`;
  try {
    await rename(path, aside);
  } catch {
    return;
  }
  if ((await readText(aside)) !== text) await link(aside, path).catch(() => undefined);
  await unlink(aside).catch(() => undefined);
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch {
    return undefined;
  }
}

function parseHolder(text: string): GatewayHolder | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isJsonObject(value)) return undefined;
  const { pid, startTime, secret, url, serves, version } = value;
  if (typeof pid !== "number" || typeof secret !== "string") return undefined;
  return {
    pid,
    startTime: orNull(startTime),
    secret,
    url: orNull(url),
    serves: parseServed(isJsonObject(serves) ? serves : value),
    version: orNull(version) ?? "",
  };
}

/**
 * A lock of an earlier version names only the configuration file: the gateway can be found by it, but never counts as
 * serving the same.
 */
function parseServed({ configFile, directory, variables }: JsonObject): SealedServed {
  const named = isJsonObject(variables) ? Object.entries(variables) : [];
  return {
    configFile: orNull(configFile),
    directory: isJsonObject(variables) ? orNull(directory) : "",
    variables: Object.fromEntries(named.map(([name, value]) => [name, orNull(value)])),
  };
}

function orNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/**
 * Whether the gateway that wrote the lock still runs. Where the system reports no start times, any process with its
 * pid counts.
 */
function isAlive({ pid, startTime }: GatewayHolder, startTimeOf: LockOptions["startTimeOf"]): boolean {
  const running = startTimeOf(pid);
  if (running !== undefined) return startTime === null || running === startTime;
  if (process.platform === "linux") return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}
