import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { editConfig, openConfigFile, saveConfig } from "./config-edit.ts";

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolyard-edit-"));
  file = join(folder, "toolyard.json");
});
afterEach(async () => await rm(folder, { recursive: true, force: true }));

const written = `\uFEFF{\r\n  // ours\r\n  "mcpServers": {}\r\n}\r\n`;
const edit = [{ path: ["mcpServers", "a"], value: { command: "x" } }];

test("a file keeps its mark, line breaks and permissions, and what was in it stands beside it", async () => {
  await writeFile(file, written);
  await chmod(file, 0o640);
  const opened = await openConfigFile(file);
  expect(await saveConfig(opened, editConfig(opened, edit))).toEqual({ backup: `${file}.bak` });
  expect(await readFile(file, "utf8")).toBe(
    written.replace(`{}`, `{\r\n    "a": {\r\n      "command": "x"\r\n    }\r\n  }`),
  );
  expect((await stat(file)).mode & 0o777).toBe(0o640);
  expect(await readFile(`${file}.bak`, "utf8")).toBe(written);
  expect((await readdir(folder)).sort()).toEqual(["toolyard.json", "toolyard.json.bak"]);
});

test("a new file can be read by its owner only, and has no backup", async () => {
  const opened = await openConfigFile(file);
  expect(await saveConfig(opened, editConfig(opened, edit))).toEqual({ backup: undefined });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ mcpServers: { a: { command: "x" } } });
});

test("FAULT 90: a link stays a link, and the file that it leads to is changed", async () => {
  const real = join(folder, "real.json");
  await writeFile(real, "{}");
  await symlink(real, file);
  const opened = await openConfigFile(file);
  await saveConfig(opened, editConfig(opened, edit));
  expect(JSON.parse(await readFile(real, "utf8"))).toEqual({ mcpServers: { a: { command: "x" } } });
  expect(await readFile(file, "utf8")).toBe(await readFile(real, "utf8"));
});

test("FAULT 90: nothing is written over what somebody else changed, made or linked elsewhere in the meantime", async () => {
  await writeFile(file, "{}");
  const opened = await openConfigFile(file);
  await writeFile(file, `{ "by": "another" }`);
  await expect(saveConfig(opened, "{ }")).rejects.toMatchObject({ code: "CONFIG_CHANGED" });
  const missing = await openConfigFile(join(folder, "new.json"));
  await writeFile(missing.file, "{}");
  await expect(saveConfig(missing, "{ }")).rejects.toMatchObject({ code: "CONFIG_CHANGED" });
  const link = join(folder, "link.json");
  await symlink(file, link);
  const linked = await openConfigFile(link);
  await rm(link);
  await symlink(missing.file, link);
  await expect(saveConfig(linked, "{ }")).rejects.toMatchObject({ code: "CONFIG_CHANGED" });
  expect(await readFile(file, "utf8")).toBe(`{ "by": "another" }`);
  expect((await readdir(folder)).filter((name) => name.endsWith(".new"))).toEqual([]);
});

test("of several that change it at once, none is lost without being told", async () => {
  await writeFile(file, "{}");
  const names = Array.from({ length: 8 }, (_, index) => `s${index}`);
  const outcomes = await Promise.allSettled(
    names.map(async (name) => {
      const opened = await openConfigFile(file);
      await saveConfig(opened, editConfig(opened, [{ path: ["mcpServers", name], value: {} }]));
      return name;
    }),
  );
  const saved = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  const refused = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason as unknown] : []));
  const { mcpServers } = JSON.parse(await readFile(file, "utf8")) as { mcpServers: object };
  expect(Object.keys(mcpServers).sort()).toEqual(saved.sort());
  expect(saved.length).toBeGreaterThan(0);
  for (const reason of refused) expect(reason).toMatchObject({ code: "CONFIG_CHANGED" });
});

test("FAULT 109: what a killed process left behind stops nobody", async () => {
  await writeFile(file, "{}");
  const left = join(folder, ".toolyard.json.new");
  await writeFile(left, "half");
  const opened = await openConfigFile(file);
  await expect(saveConfig(opened, "{ }")).rejects.toMatchObject({ code: "CONFIG_CHANGED" });
  await utimes(left, new Date(0), new Date(0));
  await saveConfig(opened, "{ }");
  expect(await readFile(file, "utf8")).toBe("{ }");
});

test("a read-only file, one in a folder that is gone, and one that is none are refused", async () => {
  await writeFile(file, "{}");
  await chmod(file, 0o444);
  await expect(saveConfig(await openConfigFile(file), "{ }")).rejects.toMatchObject({
    code: "CONFIG_UNWRITABLE",
    message: expect.stringContaining("read-only") as string,
  });
  expect(await readFile(file, "utf8")).toBe("{}");
  const gone = await openConfigFile(join(folder, "no", "such.json"));
  await expect(saveConfig(gone, "{}")).rejects.toMatchObject({ code: "CONFIG_UNWRITABLE" });
  await expect(openConfigFile(folder)).rejects.toMatchObject({ code: "CONFIG_INVALID" });
});

test.each([
  [`{ "a": 1,, }`, "f.json:1:10: expected a key"],
  [`[]`, "expected a JSON object"],
  [`{ "a": {}, "a": {} }`, "is here a second time"],
])("FAULT 87: %s is not changed, because nobody knows what was meant", (text, message) => {
  expect(() => editConfig({ file: "f.json", text }, edit)).toThrow(message);
});
