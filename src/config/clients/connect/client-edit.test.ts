import {
  chmod,
  link,
  mkdir,
  mkdtemp,
  readFile,
  readlink,
  readdir,
  realpath,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { execFileSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../../kernel/runtime/clock.ts";
import { applyEdit, applyUndo, openClientFile, planEdit, planUndo } from "./client-edit.ts";
import type { ClientFormat } from "../table/client-row.ts";
import type { EntryChange } from "../../entry/entry-change.ts";
import { readKeptChanges } from "./kept-changes.ts";

let folder: string;
let path: string;
let dataDir: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "toolyard-edit-")));
  path = join(folder, "mcp.json");
  dataDir = join(folder, "data");
});
afterEach(async () => await rm(folder, { recursive: true, force: true }));

const connect: EntryChange = { path: ["mcpServers", "toolyard"], value: { url: "http://127.0.0.1:3001/mcp" } };
const before = `\uFEFF{\r\n  // mine\r\n  "mcpServers": { "files": { "env": { "KEY": "s3cret" } } },\r\n}\r\n`;

async function change(
  file = path,
  changes: readonly EntryChange[] = [connect],
  format: ClientFormat = "json",
): Promise<void> {
  await applyEdit(await planEdit(await openClientFile(file, format), changes), { dataDir, clock: systemClock });
}

async function undo(file = path): Promise<string> {
  const planned = await planUndo(file, { dataDir });
  await applyUndo(planned);
  return planned.kind;
}

async function expectRefusal(work: Promise<unknown>, message: string): Promise<void> {
  await expect(work).rejects.toMatchObject({
    code: "CLIENT_FILE_UNUSABLE",
    message: expect.stringContaining(message) as string,
  });
}

describe("a change", () => {
  test("is written beside the file and moved there, with its permissions and owner", async () => {
    await writeFile(path, before);
    await chmod(path, 0o640);
    if (process.getuid?.() === 0) execFileSync("chown", ["1234:1234", path]);
    const { uid, ino } = await stat(path);
    await change();
    const now = await stat(path);
    expect(now.mode & 0o777).toBe(0o640);
    expect(now.uid).toBe(uid);
    expect(now.ino).not.toBe(ino);
    expect(await readFile(path, "utf8")).toContain(`"toolyard"`);
    expect((await readdir(folder)).toSorted()).toEqual(["data", "mcp.json"]);
  });

  test("keeps a backup that only the owner can read, and names no secret in its record", async () => {
    await writeFile(path, before);
    await change();
    const places = await readdir(join(dataDir, "client-files"));
    const kept = join(dataDir, "client-files", String(places[0]));
    for (const name of await readdir(kept)) expect((await stat(join(kept, name))).mode & 0o777).toBe(0o600);
    expect((await stat(kept)).mode & 0o777).toBe(0o700);
    expect(
      await readFile(join(kept, String((await readdir(kept)).find((name) => name.endsWith(".before")))), "utf8"),
    ).toBe(before);
  });

  test("goes through a link to the file that it leads to, and through linked folders", async () => {
    await mkdir(join(folder, "dotfiles"));
    await writeFile(join(folder, "dotfiles", "mcp.json"), before);
    await symlink("dotfiles/mcp.json", path);
    await symlink("dotfiles", join(folder, "linked"));
    await change();
    await change(join(folder, "linked", "new.json"));
    expect(await readlink(path)).toBe("dotfiles/mcp.json");
    expect(await readFile(join(folder, "dotfiles", "mcp.json"), "utf8")).toContain("toolyard");
    expect(await readdir(join(folder, "dotfiles"))).toContain("new.json");
    expect(await undo()).toBe("restore");
    expect(await readFile(join(folder, "dotfiles", "mcp.json"), "utf8")).toBe(before);
  });

  test("makes missing folders, and a new file that only the owner can read", async () => {
    const deep = join(folder, "a", "b", "mcp.json");
    await change(deep);
    expect((await stat(deep)).mode & 0o777).toBe(0o600);
  });
});

describe("refused, with the file as it was", () => {
  test("what another program wrote between reading and writing", async () => {
    await writeFile(path, before);
    const planned = await planEdit(await openClientFile(path, "json"), [connect]);
    await writeFile(path, `{ "mcpServers": {} }`);
    await expectRefusal(applyEdit(planned, { dataDir, clock: systemClock }), "was changed by another program");
    expect(await readFile(path, "utf8")).toBe(`{ "mcpServers": {} }`);
    expect(await readKeptChanges(dataDir, path)).toEqual([]);
    // One that appeared, and one that went away.
    const fresh = await planEdit(await openClientFile(join(folder, "x.json"), "json"), [connect]);
    await writeFile(join(folder, "x.json"), "{}");
    await expectRefusal(applyEdit(fresh, { dataDir, clock: systemClock }), "was changed by another program");
    const gone = await planEdit(await openClientFile(path, "json"), [connect]);
    await rm(path);
    await expectRefusal(applyEdit(gone, { dataDir, clock: systemClock }), "was changed by another program");
    expect(await readdir(folder)).not.toContain("mcp.json");
  });

  test("a file that was only touched is no changed one", async () => {
    await writeFile(path, before);
    const planned = await planEdit(await openClientFile(path, "json"), [connect]);
    await utimes(path, new Date(), new Date(0));
    await applyEdit(planned, { dataDir, clock: systemClock });
    expect(await undo()).toBe("restore");
  });

  test.each<[string, () => Promise<void>, string]>([
    ["broken JSON", async () => await writeFile(path, `{\n  "mcpServers": {,}\n}`), "mcp.json:2:18: expected"],
    ["a directory", async () => await mkdir(path), "is a directory"],
    ["a read-only file", async () => (await writeFile(path, before), await chmod(path, 0o444)), "is read-only"],
    ["a pipe", async () => void execFileSync("mkfifo", [path]), "is no regular file"],
    ["a link to nowhere", async () => await symlink("nowhere", path), "leads nowhere"],
    ["a link to itself", async () => await symlink("mcp.json", path), "link to itself"],
    ["UTF-16", async () => await writeFile(path, Buffer.from(`\uFEFF{}`, "utf16le")), "UTF-16"],
    ["bytes that are no text", async () => await writeFile(path, Buffer.from([0x7b, 0xff, 0x7d])), "not valid UTF-8"],
    ["a file of 33 MB", async () => await writeFile(path, " ".repeat(33 * 1024 * 1024)), "more than the limit"],
    [
      "a file with two names",
      async () => (await writeFile(path, before), await link(path, join(folder, "other"))),
      "hard links",
    ],
  ])("%s", async (_, make, message) => {
    await make();
    await expectRefusal(change(), message);
    expect(await readdir(folder)).not.toContain("data");
  });

  test("a folder on its way that is a file", async () => {
    await writeFile(path, before);
    await expectRefusal(change(join(path, "mcp.json")), "a folder on its way is a file");
  });

  test.runIf(process.platform === "linux" && process.getuid?.() === 0)("a file that is held in place", async () => {
    await writeFile(path, before);
    const planned = await planEdit(await openClientFile(path, "json"), [connect]);
    // As containers mount single files: it can be read and written, but not replaced.
    execFileSync("mount", ["--bind", path, path]);
    try {
      await expectRefusal(applyEdit(planned, { dataDir, clock: systemClock }), "is in use");
      expect(await readFile(path, "utf8")).toBe(before);
    } finally {
      execFileSync("umount", [path]);
    }
    expect((await readdir(folder)).toSorted()).toEqual(["data", "mcp.json"]);
    expect(await readKeptChanges(dataDir, path)).toEqual([]);
  });

  test("a backup that cannot be written", async () => {
    await writeFile(path, before);
    await writeFile(dataDir, "a file in its place");
    await expect(change()).rejects.toMatchObject({ code: "DATA_DIR_UNWRITABLE" });
    expect(await readFile(path, "utf8")).toBe(before);
  });
});

describe("undo", () => {
  test.each<[ClientFormat, string]>([
    ["json", before],
    ["json", `{"a":1}`],
    ["json", ""],
    ["toml", `# mine\r\n[mcp_servers]\r\nx = 1`],
    ["yaml", `# mine\nname:   x\nmcpServers:\n    - {name: a}\n`],
  ])("gives back every byte of %s %#", async (format, text) => {
    await writeFile(path, text);
    const place: EntryChange["path"] =
      format === "yaml" ? ["mcpServers", 1] : [format === "toml" ? "mcp_servers" : "mcpServers", "toolyard"];
    await change(path, [{ path: place, value: { name: "toolyard" } }], format);
    expect(await readFile(path, "utf8")).not.toBe(text);
    expect(await undo()).toBe("restore");
    expect(await readFile(path, "utf8")).toBe(text);
    expect(await undo()).toBe("nothing");
  });

  test("removes a file that was not there", async () => {
    await change();
    expect(await undo()).toBe("restore");
    expect(await readdir(folder)).not.toContain("mcp.json");
  });

  test("goes back one change after the other, of ten at most", async () => {
    await writeFile(path, "{}");
    const texts: string[] = [];
    for (let round = 0; round < 12; round += 1) {
      texts.push(await readFile(path, "utf8"));
      await change(path, [{ ...connect, value: { round } }]);
    }
    for (const text of texts.toReversed().slice(0, 10)) {
      expect(await undo()).toBe("restore");
      expect(await readFile(path, "utf8")).toBe(text);
    }
    expect(await undo()).toBe("nothing");
  });

  test("refuses when somebody changed more than our entry, and says what else can be done", async () => {
    await writeFile(path, before);
    await change();
    const theirs = (await readFile(path, "utf8")).replace("files", "documents");
    await writeFile(path, theirs);
    await expect(undo()).rejects.toMatchObject({
      code: "CLIENT_FILE_UNUSABLE",
      hint: expect.stringContaining("toolyard disconnect") as string,
    });
    expect(await readFile(path, "utf8")).toBe(theirs);
  });

  test("refuses when another server was added, where none was before", async () => {
    await change();
    const theirs = JSON.stringify({ mcpServers: { toolyard: connect.value, files: {}, more: { command: "x" } } });
    await writeFile(path, theirs);
    await expectRefusal(undo(), "was changed by somebody else");
    expect(await readFile(path, "utf8")).toBe(theirs);
  });

  test("takes out our entry alone when the client wrote the same settings in its own way, even with another entry of ours", async () => {
    await writeFile(path, before);
    await change();
    const rewritten = JSON.stringify({
      mcpServers: { toolyard: { url: "http://127.0.0.1:4000/mcp" }, files: { env: { KEY: "s3cret" } } },
    });
    await writeFile(path, rewritten);
    expect(await undo()).toBe("take-back");
    expect(await readFile(path, "utf8")).toBe(`{"mcpServers":{"files":{"env":{"KEY":"s3cret"}}}}`);
  });

  test("finds nothing to do when somebody put the old file back", async () => {
    await writeFile(path, before);
    await change();
    await writeFile(path, before);
    expect(await undo()).toBe("done");
    expect(await undo()).toBe("nothing");
  });

  test("refuses with a damaged backup", async () => {
    await writeFile(path, before);
    await change();
    const place = join(dataDir, "client-files", String((await readdir(join(dataDir, "client-files")))[0]));
    const backup = (await readdir(place)).find((name) => name.endsWith(".before"));
    await writeFile(join(place, String(backup)), "half");
    const now = await readFile(path, "utf8");
    await expectRefusal(undo(), "is missing or damaged");
    expect(await readFile(path, "utf8")).toBe(now);
  });
});
