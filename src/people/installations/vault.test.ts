import { copyFile, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../../../test/harness/until.ts";
import type { KeySource } from "../../config/key-source.ts";
import { randomId } from "../../kernel/ids.ts";
import { openKeyRing } from "../../store/files/safe/key-ring-file.ts";
import { seal, unseal } from "../../store/files/safe/sealing.ts";
import type { DataKeyRow, SecretRow } from "../../store/install-rows.ts";
import { createVault, type Vault } from "./vault.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolyard-vault-"));
});
afterEach(async () => await rm(folder, { recursive: true, force: true }));

/** What a database would hold. */
const kept = (): { secrets: Map<string, SecretRow>; dataKeys: Map<string, DataKeyRow> } => ({
  secrets: new Map(),
  dataKeys: new Map(),
});
type Kept = ReturnType<typeof kept>;

async function open(rows: Kept, source: KeySource = {}): Promise<Vault> {
  const openRing = async (mayCreate: boolean) => await openKeyRing(folder, source, mayCreate);
  const vault = createVault({ sealing: { seal, unseal }, openRing, newId: randomId, now: () => 0 });
  vault.apply({ dataKeys: [...rows.dataKeys.values()] });
  return vault;
}

function write(
  vault: Vault,
  rows: Kept,
  writes: Awaited<ReturnType<Vault["seal"]>> & { goneDataKeys?: readonly string[] },
) {
  for (const row of writes.dataKeys ?? []) rows.dataKeys.set(row.id, row);
  for (const row of writes.secrets ?? []) rows.secrets.set(row.id, row);
  for (const id of writes.goneDataKeys ?? []) rows.dataKeys.delete(id);
  vault.apply(writes);
}

async function put(vault: Vault, rows: Kept, teamId: string, text: string): Promise<SecretRow> {
  const times = { createdAtMs: 0, updatedAtMs: 0, usedAtMs: null };
  const about = { id: randomId("s_"), teamId, installationId: null, membershipId: null, field: "KEY", version: 1 };
  const writes = await vault.seal({ ...about, ...times }, text);
  write(vault, rows, writes);
  return writes.secrets?.[0] as SecretRow;
}

const key = (byte: number): string => Buffer.alloc(32, byte).toString("base64");
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const unreadable = (why: string) =>
  expect.objectContaining({ code: "SECRET_UNREADABLE", message: expect.stringContaining(why) as string }) as Error;

const differs = expect.objectContaining({ code: "KEY_DIFFERS" }) as Error;

test("what is sealed opens again, also after a restart, and stands nowhere in plain text", async () => {
  const rows = kept();
  const [red, blue] = [
    await put(await open(rows), rows, "t_red", "hunter2-red"),
    await put(await open(rows), rows, "t_blue", "hunter2-blue"),
  ];
  const later = await open(rows);
  expect(await later.unlock()).toBeUndefined();
  expect([later.open(red), later.open(blue)]).toEqual(["hunter2-red", "hunter2-blue"]);
  expect(rows.dataKeys.size).toBe(2);
  expect(JSON.stringify([...rows.secrets.values(), ...rows.dataKeys.values()])).not.toContain("hunter2");
  expect((await stat(join(folder, "vault.key"))).mode & 0o777).toBe(0o600);
});

test("secrets that come at once to a team without a key share the one that is made", async () => {
  const rows = kept();
  const vault = await open(rows);
  await Promise.all(["a", "b", "c"].map(async (text) => await put(vault, rows, "t_red", text)));
  expect(rows.dataKeys.size).toBe(1);
  const later = await open(rows);
  await later.unlock();
  expect([...rows.secrets.values()].map(later.open).sort()).toEqual(["a", "b", "c"]);
});

test("a key that was made for a write that failed is never used for another", async () => {
  const rows = kept();
  const vault = await open(rows);
  const row = { id: "s_1", teamId: "t_red", installationId: null, membershipId: null, field: "K", version: 1 };
  const lost = await vault.seal({ ...row, createdAtMs: 0, updatedAtMs: 0, usedAtMs: null }, "lost");
  const secret = await put(vault, rows, "t_red", "kept");
  expect(lost.dataKeys).toHaveLength(1);
  const later = await open(rows);
  await later.unlock();
  expect(later.open(secret)).toBe("kept");
});

test("rows that are moved to another team, row, field or version, or put back, do not open", async () => {
  const rows = kept();
  const vault = await open(rows);
  const [red, blue] = [await put(vault, rows, "t_red", "of-red"), await put(vault, rows, "t_blue", "of-blue")];
  const other = await put(vault, rows, "t_red", "other-of-red");
  for (const moved of [
    { ...red, sealed: other.sealed },
    { ...red, field: "OTHER" },
    { ...red, version: 2 },
    { ...red, id: other.id },
    { ...red, teamId: "t_blue" },
    { ...red, sealed: blue.sealed, keyId: blue.keyId },
    { ...red, keyId: blue.keyId },
    { ...red, sealed: Buffer.from("short").toString("base64") },
  ])
    expect(() => vault.open(moved)).toThrow(unreadable("it was changed, or belongs elsewhere"));
  // A team's wrapped key in the place of another's.
  const [first, second] = [...rows.dataKeys.values()] as [DataKeyRow, DataKeyRow];
  rows.dataKeys.set(first.id, { ...first, wrapped: second.wrapped });
  const swapped = await open(rows);
  expect(await swapped.unlock()).toMatchObject({ code: "SECRET_UNREADABLE" });
  expect(() => swapped.open(red)).toThrow(unreadable("its team's key was changed"));
  expect(swapped.open(blue)).toBe("of-blue");
});

test("a wrong key opens nothing and says so; the right one opens all again", async () => {
  const rows = kept();
  const secret = await put(await open(rows, { secret: key(1) }), rows, "t_red", "text");
  const wrong = await open(rows, { secret: key(2) });
  expect(await wrong.unlock()).toMatchObject({ message: expect.stringContaining("another key") as string });
  expect(() => wrong.open(secret)).toThrow(differs);
  await expect(put(wrong, rows, "t_red", "more")).rejects.toThrow(differs);
  const right = await open(rows, { secret: key(1) });
  expect([await right.unlock(), right.open(secret)]).toEqual([undefined, "text"]);
});

test("a key file that is missing is not made anew where something was sealed with it", async () => {
  const rows = kept();
  const secret = await put(await open(rows), rows, "t_red", "text");
  await rename(join(folder, "vault.key"), join(folder, "elsewhere"));
  const vault = await open(rows);
  expect(await vault.unlock()).toMatchObject({
    code: "CONFIG_INVALID",
    message: expect.stringContaining("missing") as string,
  });
  expect(() => vault.open(secret)).toThrow(unreadable("does not exist"));
  expect(await readdir(folder)).toEqual(["elsewhere"]);
  await writeFile(join(folder, "vault.key"), "junk", { mode: 0o600 });
  expect(await (await open(rows)).unlock()).toMatchObject({ message: expect.stringContaining("32 bytes") as string });
  await rename(join(folder, "elsewhere"), join(folder, "vault.key"));
  const back = await open(rows);
  expect([await back.unlock(), back.open(secret)]).toEqual([undefined, "text"]);
});

test("a key comes from a command or a named file; junk, too much, a failure and one that hangs are refused unseen", async () => {
  const rows = kept();
  const secret = await put(await open(rows, { command: `echo ${key(3)}` }), rows, "t_red", "text");
  await writeFile(join(folder, "mounted"), `${key(3)}\n`);
  const named = await open(rows, { secret: `file:${join(folder, "mounted")}` });
  expect([await named.unlock(), named.open(secret)]).toEqual([undefined, "text"]);
  for (const [command, why] of [
    ["echo half-of-a-key", "did not print 32 bytes"],
    ["yes half-of-a-key", "printed more than a key"],
    [`echo ${key(3)}; exit 3`, "ended with 3"],
    ["no-such-program-of-ours", "ended with 127"],
  ] as const) {
    const problem = await (await open(rows, { command })).unlock();
    expect([command, problem?.code, problem?.message]).toEqual([
      command,
      "CONFIG_INVALID",
      expect.stringContaining(why),
    ]);
    expect(problem?.message).not.toContain("half-of-a-key");
  }
  const hanging = await open(rows, { command: `sleep 1000 & echo $! > ${folder}/pid; wait`, commandMs: 500 });
  expect((await hanging.unlock())?.message).toContain("did not end within 0.5 s");
  const pid = Number(await readFile(join(folder, "pid"), "utf8"));
  await until(() => !isAlive(pid));
  const missing = await (await open(rows, { secret: `file:${join(folder, "nowhere")}` })).unlock();
  expect(missing).toMatchObject({ code: "CONFIG_INVALID", message: expect.stringContaining("ENOENT") as string });
});

test("a rotation changes the key and no value; interrupted anywhere, everything still opens and it can be finished", async () => {
  const rows = kept();
  const vault = await open(rows);
  const secret = await put(vault, rows, "t_red", "text");
  const before = await readFile(join(folder, "vault.key"), "utf8");
  // Killed when the next key was written, and when what it wraps was written, too.
  for (const isWritten of [false, true]) {
    const dying = await open(rows);
    await dying.unlock();
    const dataKeys = await dying.rewrap();
    if (isWritten) write(dying, rows, { dataKeys });
    const next = await open(rows);
    expect([await next.unlock(), next.isRotating, next.open(secret)]).toEqual([undefined, true, "text"]);
  }
  const finishing = await open(rows);
  await finishing.unlock();
  write(finishing, rows, { dataKeys: await finishing.rewrap() });
  await finishing.finishRotation();
  const after = await open(rows);
  expect([await after.unlock(), after.isRotating, after.open(secret)]).toEqual([undefined, false, "text"]);
  expect(await readFile(join(folder, "vault.key"), "utf8")).not.toBe(before);
  expect((await readdir(folder)).sort()).toEqual(["vault.key"]);
  // The old key is of no use any more.
  await writeFile(join(folder, "vault.key"), before, { mode: 0o600 });
  expect(await (await open(rows)).unlock()).toMatchObject({ code: "KEY_DIFFERS" });
});

test("a team that gets its first secret while a rotation goes on has it afterwards, too", async () => {
  const rows = kept();
  const vault = await open(rows);
  const before = await put(vault, rows, "t_red", "of-red");
  write(vault, rows, { dataKeys: await vault.rewrap() });
  // Everything is wrapped anew, and the old key is still there.
  const during = await put(vault, rows, "t_new", "of-new");
  await vault.finishRotation();
  const after = await open(rows);
  expect([await after.unlock(), after.open(before), after.open(during)]).toEqual([undefined, "of-red", "of-new"]);
});

test("a key of one's own is rotated by naming the one before it", async () => {
  const rows = kept();
  const secret = await put(await open(rows, { secret: key(4) }), rows, "t_red", "text");
  const both = await open(rows, { secret: "a passphrase that is new", previous: key(4) });
  expect([await both.unlock(), both.open(secret)]).toEqual([undefined, "text"]);
  write(both, rows, { dataKeys: await both.rewrap() });
  await both.finishRotation();
  const after = await open(rows, { secret: "a passphrase that is new" });
  expect([await after.unlock(), after.open(secret)]).toEqual([undefined, "text"]);
});

test("sealing everything again makes a new key for the team, and the old one opens nothing", async () => {
  const rows = kept();
  const vault = await open(rows);
  const secret = await put(vault, rows, "t_red", "text");
  const old = [...rows.dataKeys.values()];
  write(vault, rows, await vault.reseal("t_red", [secret]));
  expect([...rows.dataKeys.values()].map(({ id }) => id)).not.toEqual(old.map(({ id }) => id));
  const renewed = rows.secrets.get(secret.id) as SecretRow;
  expect([renewed.sealed === secret.sealed, vault.open(renewed)]).toEqual([false, "text"]);
  expect(() => vault.open(secret)).toThrow(unreadable("its team's key is not there"));
});

test("a key file that others can read is refused", async () => {
  const rows = kept();
  await put(await open(rows), rows, "t_red", "text");
  await copyFile(join(folder, "vault.key"), join(folder, "copy"));
  await rm(join(folder, "vault.key"));
  await writeFile(join(folder, "vault.key"), await readFile(join(folder, "copy"), "utf8"), { mode: 0o644 });
  expect(await (await open(rows)).unlock()).toMatchObject({
    message: expect.stringContaining("read by other users") as string,
  });
});

test("a gateway whose key was changed at another one goes on with what is open, and seals nothing of its own under the old one", async () => {
  const rows = kept();
  const secret = await put(await open(rows, { secret: key(1) }), rows, "t_red", "text");
  const old = await open(rows, { secret: key(1) });
  expect([await old.unlock(), old.isOutdated]).toEqual([undefined, false]);
  const rotating = await open(rows, { secret: key(2), previous: key(1) });
  await rotating.unlock();
  write(rotating, rows, { dataKeys: await rotating.rewrap() });
  // As the change feed tells the other.
  old.apply(old.differenceTo({ dataKeys: [...rows.dataKeys.values()] }));
  expect([await old.unlock(), old.isOutdated, old.open(secret)]).toEqual([undefined, true, "text"]);
  await put(old, rows, "t_red", "more");
  await expect(put(old, rows, "t_new", "more")).rejects.toThrow(differs);
  // Everything under keys that this one cannot know.
  write(rotating, rows, await rotating.reseal("t_red", [secret]));
  old.apply(old.differenceTo({ dataKeys: [...rows.dataKeys.values()] }));
  expect(await old.unlock()).toMatchObject({ code: "KEY_DIFFERS" });
  await expect(put(old, rows, "t_red", "more")).rejects.toThrow(differs);
});

test("a key in a file that was replaced is read again when another gateway rotated to it", async () => {
  const rows = kept();
  const mounted = join(folder, "mounted");
  await writeFile(mounted, key(1));
  const secret = await put(await open(rows, { secret: `file:${mounted}` }), rows, "t_red", "text");
  const running = await open(rows, { secret: `file:${mounted}` });
  await running.unlock();
  const rotating = await open(rows, { secret: key(2), previous: key(1) });
  await rotating.unlock();
  await writeFile(mounted, key(2));
  write(rotating, rows, { dataKeys: await rotating.rewrap() });
  running.apply(running.differenceTo({ dataKeys: [...rows.dataKeys.values()] }));
  expect([await running.unlock(), running.isOutdated, running.open(secret)]).toEqual([undefined, false, "text"]);
  await put(running, rows, "t_new", "more");
  expect(await (await open(rows, { secret: key(2) })).unlock()).toBeUndefined();
});
