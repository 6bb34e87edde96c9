import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { sleep } from "../../../kernel/runtime/abort.ts";
import { isJsonObject, type JsonObject, parseJson } from "../../../kernel/text/json-bytes.ts";
import {
  type GatewayHolder,
  type GatewayLock,
  sealServed,
  type SealedServed,
  type Served,
} from "../../gateway-holder.ts";
import { createExclusive, isRunning, readIfThere, removeExactly, removeOwn } from "./exclusive-file.ts";
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
/**
 * Attempts to take the lock. In each failed one some other process made progress, or is about to and is waited for: ten
 * seconds in all, because it may not get any processor time before.
 */
const mostRounds = 1_000;
const pollMs = 10;

/**
 * Takes the lock, or tells which gateway holds it. The lock of a gateway that ended without releasing it is taken
 * over. Throws when the lock file cannot be written.
 */
export async function claimGatewayLock(options: LockOptions): Promise<LockClaim> {
  const path = join(options.folder, lockName);
  const secret = randomBytes(32).toString("hex");
  const never = new AbortController().signal;
  const holder: GatewayHolder = {
    pid: process.pid,
    startTime: options.startTimeOf(process.pid) ?? null,
    secret,
    url: null,
    isPortChosen: false,
    serves: sealServed(options.serves, secret),
    version: options.version,
  };
  for (let round = 0; round < mostRounds; round += 1) {
    if (await createExclusive(path, JSON.stringify(holder))) return { kind: "held", lock: toLock(path, holder) };
    const text = await readIfThere(path);
    const other = text === undefined ? undefined : parseHolder(text);
    if (other !== undefined && isAlive(other, options.startTimeOf)) return { kind: "taken", by: other };
    if (text === undefined || !(await removeExactly(path, text))) await sleep(pollMs, never);
  }
  throw new Error(`${path} cannot be taken`);
}

/** The gateway that holds the lock now; undefined when none does. */
export async function readGatewayHolder(
  options: Pick<LockOptions, "folder" | "startTimeOf">,
): Promise<GatewayHolder | undefined> {
  const text = await readIfThere(join(options.folder, lockName));
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
    announce: async (url, isPortChosen = false) => await change({ url, isPortChosen }),
    announceServed: async (serves) => await change({ serves: sealServed(serves, first.secret) }),
    async [Symbol.asyncDispose]() {
      await writing.catch(() => undefined);
      await removeOwn(path, text);
    },
  };
}

function parseHolder(text: string): GatewayHolder | undefined {
  const value = parseJson(text);
  if (!isJsonObject(value)) return undefined;
  const { pid, startTime, secret, url, isPortChosen, serves, version } = value;
  if (typeof pid !== "number" || typeof secret !== "string") return undefined;
  return {
    pid,
    startTime: orNull(startTime),
    secret,
    url: orNull(url),
    isPortChosen: isPortChosen === true,
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
  return isRunning(pid);
}
