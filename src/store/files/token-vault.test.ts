import { chmod, copyFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { withFileLock } from "./safe/exclusive-file.ts";
import { createTokenVault } from "./token-vault.ts";

let directory: string;
const never = new AbortController().signal;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "toolyard-vault-"));
});
afterEach(async () => await rm(directory, { recursive: true, force: true }));

const open = (secret?: string) => createTokenVault({ directory, key: { secret } });

async function fileOf(instance: string): Promise<string> {
  const name = (await readdir(join(directory, "tokens"))).find(
    (file) => file.startsWith(`${instance}-`) && file.endsWith(".vault"),
  );
  return join(directory, "tokens", name ?? "missing");
}

describe("a vault", () => {
  test.each([
    ["a key file", undefined],
    ["32 bytes", Buffer.alloc(32, 3).toString("base64")],
    ["a passphrase", "correct horse battery staple"],
  ])("with %s gives back what was put in, to another process too", async (_kind, secret) => {
    await open(secret).write("github", "canary");
    expect(await open(secret).read("github")).toEqual({ kind: "text", text: "canary" });
    expect(await open(secret).read("other")).toEqual({ kind: "none" });
    expect((await readFile(await fileOf("github"))).includes("canary")).toBe(false);
  });

  test("never writes the same bytes twice, and changes its revision with each", async () => {
    const vault = open();
    await vault.write("github", "canary");
    const [bytes, revision] = [await readFile(await fileOf("github")), await vault.revision("github")];
    await vault.write("github", "canary");
    expect((await readFile(await fileOf("github"))).equals(bytes)).toBe(false);
    expect(await vault.revision("github")).not.toBe(revision);
    expect(await vault.remove("github")).toBe(true);
    expect(await vault.remove("github")).toBe(false);
    expect(await vault.revision("github")).toBeUndefined();
  });

  test("keeps files and key for their owner only", async () => {
    await open().write("github", "canary");
    const modes = await Promise.all(
      [join(directory, "vault.key"), await fileOf("github"), join(directory, "tokens")].map(
        async (path) => (await stat(path)).mode & 0o777,
      ),
    );
    expect(modes).toEqual([0o600, 0o600, 0o700]);
  });

  test("does not trust a key that others can read", async () => {
    await open().write("github", "canary");
    await chmod(join(directory, "vault.key"), 0o644);
    await expect(open().read("github")).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      hint: expect.stringContaining("chmod 600"),
    });
  });

  test("opens nothing with another key, and says which kind is wanted", async () => {
    await open().write("github", "canary");
    expect(await open("passphrase").read("github")).toMatchObject({
      kind: "unreadable",
      reason: expect.stringContaining("TOOLYARD_KEY"),
    });
    await open("passphrase").write("github", "canary");
    expect(await open("another").read("github")).toMatchObject({
      kind: "unreadable",
      reason: expect.stringContaining("another key"),
    });
    expect(await open().read("github")).toMatchObject({
      kind: "unreadable",
      reason: expect.stringContaining("TOOLYARD_KEY"),
    });
    await rm(join(directory, "vault.key"));
    expect(await open().read("other")).toEqual({ kind: "none" });
  });

  test("does not open a file that was changed, cut, or moved to another name", async () => {
    const vault = open();
    await vault.write("github", "canary");
    await vault.write("bob", "his");
    await copyFile(await fileOf("github"), await fileOf("bob"));
    expect(await vault.read("bob")).toMatchObject({ kind: "unreadable" });
    const path = await fileOf("github");
    const whole = await readFile(path);
    for (let at = 0; at < whole.length; at += 1) {
      const changed = Buffer.from(whole);
      changed[at] = (changed[at] ?? 0) ^ 1;
      await writeFile(path, changed);
      expect(await vault.read("github")).toMatchObject({ kind: "unreadable" });
      await writeFile(path, whole.subarray(0, at));
      expect(await vault.read("github")).toMatchObject({ kind: "unreadable" });
    }
  });

  test("is made by many processes at once without losing any login", async () => {
    const vaults = Array.from({ length: 8 }, () => open());
    await Promise.all(vaults.map(async (vault, index) => await vault.write(`server${index}`, `text${index}`)));
    for (let index = 0; index < vaults.length; index += 1)
      expect(await open().read(`server${index}`)).toEqual({ kind: "text", text: `text${index}` });
    expect((await readdir(directory)).filter((name) => name.includes("tmp"))).toEqual([]);
  });
});

describe("a lock", () => {
  test("lets one in at a time, and leaves nothing behind", async () => {
    let inside = 0;
    let most = 0;
    const path = join(directory, "lock");
    const work = async () => {
      inside += 1;
      most = Math.max(most, inside);
      await new Promise((resolve) => setImmediate(resolve));
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 10 }, async () => await withFileLock(path, never, work)));
    expect(most).toBe(1);
    expect(await readdir(directory)).toEqual([]);
  });

  test("is taken over from a process that is gone, not from one that lives", async () => {
    const path = join(directory, "lock");
    // No process has this number: it is beyond the largest that Linux gives.
    await writeFile(path, "4194305 somebody");
    expect(await withFileLock(path, never, async () => "mine")).toBe("mine");
    await writeFile(path, `${process.ppid} somebody`);
    const waiting = new AbortController();
    const refused = withFileLock(path, waiting.signal, async () => "mine");
    waiting.abort(new Error("enough"));
    await expect(refused).rejects.toThrow("enough");
    expect(await readFile(path, "utf8")).toBe(`${process.ppid} somebody`);
  });
});
