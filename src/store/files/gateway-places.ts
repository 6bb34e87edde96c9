import { createHash } from "node:crypto";
import { cp, mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Claim, GatewayHolder } from "../gateway-holder.ts";
import { compareServed, type Served } from "../served.ts";
import { withFileLock } from "./file-lock.ts";
import { claimGatewayLock, readGatewayHolder } from "./gateway-lock.ts";
import { replaceFile } from "./replace-file.ts";

/**
 * The places of the gateways that share a data directory: a folder each below `gateways/`, named after the
 * configuration file, held by one gateway at a time. What a gateway learns and keeps of its servers is in its place;
 * logins and their key are the person's, and lie above.
 */
export interface Place {
  readonly folder: string;
  readonly holder: GatewayHolder;
}

export interface PlacesOptions {
  readonly dataDir: string;
  /** Start time of a running process, undefined when there is no such process. */
  readonly startTimeOf: (pid: number) => string | undefined;
}

export interface ClaimOptions extends PlacesOptions {
  readonly serves: Served;
  readonly version: string;
}

/**
 * Folders that are kept, used last first: one is a few hundred KB, and who has had as many projects forgot the first.
 */
const mostPlaces = 200;
/** Tells people which folder is whose, also when no gateway runs. */
const aboutName = "gateway.json";

/** All gateways that run with this data directory, also one of an earlier version, which held the directory itself. */
export async function listGateways({ dataDir, startTimeOf }: PlacesOptions): Promise<readonly Place[]> {
  const folders = [dataDir, ...(await placesIn(dataDir))];
  const places = await Promise.all(
    folders.map(async (folder) => ({ folder, holder: await readGatewayHolder({ folder, startTimeOf }) })),
  );
  return places.flatMap(({ folder, holder }) => (holder === undefined ? [] : [{ folder, holder }]));
}

/**
 * Where a gateway of this configuration keeps what is its own, unless another one holds that. Stays the same when
 * variables change.
 */
export function placeOf(dataDir: string, { configFile, directory }: Served): string {
  const hash = createHash("sha256").update(JSON.stringify([configFile, directory]));
  return join(dataDir, "gateways", hash.digest("hex").slice(0, 12));
}

/**
 * Takes a place for a new gateway, or tells which one serves the same already. Of any number that ask at once one
 * gets it.
 */
export async function claimPlace(options: ClaimOptions): Promise<Claim> {
  const { dataDir, serves } = options;
  await mkdir(join(dataDir, "gateways"), { recursive: true, mode: 0o700 });
  // Held for a moment each time: whoever holds it longer has crashed, and then it is taken over.
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

/** The same file in another environment gets the next number: two gateways never write the same files. */
function freePlace(wanted: string, taken: ReadonlySet<string>): string {
  let folder = wanted;
  for (let number = 2; taken.has(folder); number += 1) folder = `${wanted}-${number}`;
  return folder;
}

/** Makes the folder ready for use, and leaves it unclaimed. */
export async function makePlace(dataDir: string, folder: string, { configFile, directory }: Served): Promise<void> {
  const isNew = (await stat(join(folder, aboutName)).catch(() => undefined)) === undefined;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (isNew) await inherit(dataDir, folder);
  await replaceFile(join(folder, aboutName), `${JSON.stringify({ configFile, directory }, null, 2)}\n`);
}

/**
 * What an earlier version kept in the data directory itself. Everybody may begin with what was learned; a token that
 * was handed out for an instance must not open one of the same name elsewhere, so that these go to the first who
 * comes. What cannot be copied is learned again.
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
