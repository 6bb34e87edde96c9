import { appendFile, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createVectorFile, type VectorFile } from "./vector-file.ts";

let folder: string;
let path: string;
let failures: unknown[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolyard-vectors-"));
  path = join(folder, "vectors");
  failures = [];
});
afterEach(async () => await rm(folder, { recursive: true, force: true }));

const hash = (number: number): string => number.toString(16).padStart(64, "0");
const entry = (number: number, ...values: readonly number[]) => ({
  hash: hash(number),
  vector: Float32Array.from(values),
});
async function opened(model = "m"): Promise<VectorFile> {
  const file = createVectorFile({ path, model, onFailure: (error) => failures.push(error) });
  await file.load();
  return file;
}
const valuesOf = (file: VectorFile, number: number) => {
  const vector = file.get(hash(number));
  return vector && [...vector];
};

test("vectors are there after a restart, and more are added to them", async () => {
  const first = await opened();
  first.put([entry(1, 0.5, -2)]);
  first.put([entry(2, 1, 1)]);
  await first[Symbol.asyncDispose]();
  const second = await opened();
  second.put([entry(3, 4, 4), entry(1, 9, 9)]);
  await second[Symbol.asyncDispose]();
  const third = await opened();
  expect([1, 2, 3, 4].map((number) => valuesOf(third, number))).toEqual([[0.5, -2], [1, 1], [4, 4], undefined]);
  expect(failures).toEqual([]);
});

test("vectors of another model are not used, and are replaced", async () => {
  const first = await opened("a");
  first.put([entry(1, 1)]);
  await first[Symbol.asyncDispose]();
  const other = await opened("b");
  expect(valuesOf(other, 1)).toBeUndefined();
  other.put([entry(2, 2, 2)]);
  await other[Symbol.asyncDispose]();
  expect(valuesOf(await opened("b"), 2)).toEqual([2, 2]);
  expect(valuesOf(await opened("a"), 1)).toBeUndefined();
});

test("half a record at the end, left by a crash, costs no other record", async () => {
  const first = await opened();
  first.put([entry(1, 1, 2)]);
  await first[Symbol.asyncDispose]();
  await appendFile(path, Buffer.alloc(17, 0xff));
  const second = await opened();
  expect(valuesOf(second, 1)).toEqual([1, 2]);
  second.put([entry(2, 3, 4)]);
  await second[Symbol.asyncDispose]();
  const third = await opened();
  expect([valuesOf(third, 1), valuesOf(third, 2)]).toEqual([
    [1, 2],
    [3, 4],
  ]);
});

test("a file that is none of ours is read as empty", async () => {
  for (const content of [
    "",
    "\n",
    "{}\n",
    "not json\n",
    '{"model":"m","length":0}\n',
    '{"model":"m","length":-1}\nabc',
  ]) {
    await writeFile(path, content);
    expect(valuesOf(await opened(), 1)).toBeUndefined();
  }
  await writeFile(path, `${" ".repeat(2_000)}{"model":"m","length":1}\n`);
  const file = await opened();
  file.put([entry(1, 5)]);
  await file[Symbol.asyncDispose]();
  expect(valuesOf(await opened(), 1)).toEqual([5]);
});

test("a vector of another length, or with something else than a hash, is not kept", async () => {
  const file = await opened();
  file.put([entry(1, 1, 2), entry(2, 1), { hash: "../x", vector: Float32Array.from([1, 2]) }]);
  expect([valuesOf(file, 1), valuesOf(file, 2), file.get("../x")]).toEqual([[1, 2], undefined, undefined]);
  await file[Symbol.asyncDispose]();
  expect((await readFile(path)).length).toBe('{"model":"m","length":2}\n'.length + 32 + 8);
});

test("a write that failed is made good by the next one", async () => {
  path = join(folder, "late", "vectors");
  const file = await opened();
  file.put([entry(1, 1)]);
  await expect.poll(() => failures.length).toBe(1);
  await mkdir(join(folder, "late"));
  file.put([entry(2, 2)]);
  await file[Symbol.asyncDispose]();
  const again = await opened();
  expect([valuesOf(again, 1), valuesOf(again, 2)]).toEqual([[1], [2]]);
});

test("what is forgotten while a write runs is gone from the file too", async () => {
  const many = Array.from({ length: 40_001 }, (_, at) => entry(at, at));
  const first = await opened();
  first.put(many);
  first.keepOnly(new Set());
  await first[Symbol.asyncDispose]();
  expect((await stat(path)).size).toBeLessThan(100);

  const second = await opened();
  second.put(many);
  await second[Symbol.asyncDispose]();
  const third = await opened();
  third.put([entry(50_000, 1)]);
  // Lets the append begin: it waits only for a promise that has settled.
  await Promise.resolve();
  third.keepOnly(new Set([hash(7), hash(50_000)]));
  await third[Symbol.asyncDispose]();
  const fourth = await opened();
  expect([7, 8, 50_000].map((number) => valuesOf(fourth, number))).toEqual([[7], undefined, [1]]);
});
