import { createHash } from "node:crypto";
import { cp, mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { type Claim, type GatewayHolder, compareServed, type Served } from "../../gateway-holder.ts";
import { withFileLock } from "./exclusive-file.ts";
import { claimGatewayLock, readGatewayHolder } from "./gateway-lock.ts";
import { replaceFile } from "./replace-file.ts";

/**
 * One gateway's folder in the data directory. Gateways that share a data directory have a folder each below
 * `gateways/`, named after a hash of the configuration file and held by one gateway at a time. It contains what a
 * gateway has learned and keeps about its servers. Logins and their key belong to the person and are in the data
 * directory itself.
 */
export interface Place {
  readonly folder: string;
  readonly holder: GatewayHolder;
}

/** Where the folders are, and how to tell whether a process runs. */
export interface PlacesOptions {
  readonly dataDir: string;
  /** The start time of a running process; undefined when there is no such process. */
  readonly startTimeOf: (pid: number) => string | undefined;
}

/** What the new gateway serves. */
export interface ClaimOptions extends PlacesOptions {
  readonly serves: Served;
  readonly version: string;
}

/**
 * The most folders kept; beyond it the least recently used are removed. One takes a few hundred KB, and somebody with
 * 200 projects no longer needs the first.
 */
const mostPlaces = 200;
/** A file that tells people which configuration a folder belongs to, even when no gateway runs. */
const aboutName = "gateway.json";

/**
 * All gateways that run with this data directory. Those of earlier versions, which locked the data directory itself,
 * are included.
 */
export async function listGateways({ dataDir, startTimeOf }: PlacesOptions): Promise<readonly Place[]> {
  const folders = [dataDir, ...(await placesIn(dataDir))];
  const places = await Promise.all(
    folders.map(async (folder) => ({ folder, holder: await readGatewayHolder({ folder, startTimeOf }) })),
  );
  return places.flatMap(({ folder, holder }) => (holder === undefined ? [] : [{ folder, holder }]));
}

/**
 * The folder for a gateway of this configuration, unless another gateway holds it. Does not depend on the values of
 * variables.
 */
export function placeOf(dataDir: string, { configFile, directory }: Served): string {
  const hash = createHash("sha256").update(JSON.stringify([configFile, directory]));
  return join(dataDir, "gateways", hash.digest("hex").slice(0, 12));
}

/**
 * Takes a folder for a new gateway, or tells which gateway already serves the same. When several ask at once, only
 * one gets a folder.
 */
export async function claimPlace(options: ClaimOptions): Promise<Claim> {
  const { dataDir, serves } = options;
  await mkdir(join(dataDir, "gateways"), { recursive: true, mode: 0o700 });
  // The lock is only ever held for a moment. A process that holds it longer has crashed, and its lock is taken over,
  // so waiting always ends.
  return await withFileLock(join(dataDir, "gateways", "claim.lock"), new AbortController().signal, async () => {
    const running = await listGateways(options);
    const same = running.find(({ holder }) => compareServed(holder.serves, serves, holder.secret) === "same");
    if (same !== undefined) return { kind: "taken", by: same.holder };
    const folder = freePlace(placeOf(dataDir, serves), new Set(running.map((place) => place.folder)));
    await makePlace(dataDir, folder, serves);
    await removeForgotten(dataDir, new Set([folder, ...running.map((place) => place.folder)]));
    const claim = await claimGatewayLock({ ...options, folder });
    return claim.kind === "held" ? { ...claim, folder } : claim;
  });
}

/**
 * A second gateway of the same configuration, with other values of variables, gets a folder with a number. Two
 * gateways never write to the same files.
 */
function freePlace(wanted: string, taken: ReadonlySet<string>): string {
  let folder = wanted;
  for (let number = 2; taken.has(folder); number += 1) folder = `${wanted}-${number}`;
  return folder;
}

/** Makes the folder ready for use without locking it. */
export async function makePlace(dataDir: string, folder: string, { configFile, directory }: Served): Promise<void> {
  const isNew = (await stat(join(folder, aboutName)).catch(() => undefined)) === undefined;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (isNew) await inherit(dataDir, folder);
  await replaceFile(join(folder, aboutName), `${JSON.stringify({ configFile, directory }, null, 2)}\n`);
}

/**
 * Copies what an earlier version kept in the data directory itself. Every folder gets a copy of what was learned.
 * Instance tokens are moved to the first folder only, because a token must not give access to an instance of the same
 * name in another configuration. Whatever cannot be copied is learned again.
 */
async function inherit(dataDir: string, folder: string): Promise<void> {
  for (const name of ["catalog", "learned.json", "namespace-usage.json", "vectors.bin"])
    await cp(join(dataDir, name), join(folder, name), { recursive: true }).catch(() => undefined);
  await rename(join(dataDir, "instance-tokens.json"), join(folder, "instance-tokens.json")).catch(() => undefined);
}

async function removeForgotten(dataDir: string, used: ReadonlySet<string>): Promise<void> {
  const folders = await placesIn(dataDir);
  if (folders.length <= mostPlaces) return;
  const dated = await Promise.all(folders.map(async (folder) => ({ folder, atMs: await lastUse(folder) })));
  const oldest = dated.filter(({ folder }) => !used.has(folder)).sort((a, b) => a.atMs - b.atMs);
  for (const { folder } of oldest.slice(0, folders.length - mostPlaces))
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
}

async function lastUse(folder: string): Promise<number> {
  return await stat(join(folder, aboutName)).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}

async function placesIn(dataDir: string): Promise<readonly string[]> {
  const parent = join(dataDir, "gateways");
  const names = await readdir(parent).catch(() => []);
  return names.filter((name) => /^[0-9a-f]{12}(?:-\d+)?$/.test(name)).map((name) => join(parent, name));
}
