import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createManualClock, type ManualClock } from "../../../test/harness/manual-clock.ts";
import { keptText } from "../../../test/harness/kept-text.ts";
import { until } from "../../../test/harness/until.ts";
import type { PrincipalId } from "../../kernel/ids.ts";
import { createSpillFiles } from "../../store/files/file-store.ts";
import { createKeptResults, type KeptLimits, type KeptResults } from "./kept-results.ts";

const anna = "anna" as PrincipalId;
const bert = "bert" as PrincipalId;
let folder: string;
let clock: ManualClock;
let failures: unknown[];

beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), "toolyard-kept-")), "results");
  clock = createManualClock();
  failures = [];
});
afterEach(async () => await rm(join(folder, ".."), { recursive: true, force: true }));

function keeping(limits: Partial<KeptLimits> = {}): KeptResults {
  return createKeptResults({
    files: createSpillFiles(folder, (error) => failures.push(error)),
    clock,
    limits: () => ({ keepMs: 600_000, memoryBytes: 1_000_000, diskBytes: 1_000_000, ...limits }),
  });
}

const textOf = (letter: string, length: number) => keptText(letter.repeat(length), 1_000);
const filesIn = async (): Promise<string[]> => await readdir(folder).catch(() => []);

describe("what was cut off a result", () => {
  test("is read by whoever it belongs to, and by nobody else", async () => {
    await using kept = keeping();
    const id = kept.keep(anna, textOf("a", 100));
    expect(id).toMatch(/^[A-Za-z0-9_-]{22}$/);
    expect(await kept.read(anna, id)).toEqual(textOf("a", 100));
    expect(await kept.read(bert, id)).toBeUndefined();
    expect(await kept.read(anna, "x".repeat(22))).toBeUndefined();
  });

  test("is forgotten when its time is over", async () => {
    await using kept = keeping({ keepMs: 1_000 });
    const first = kept.keep(anna, textOf("a", 100));
    await clock.advance(600);
    const second = kept.keep(anna, textOf("b", 100));
    await clock.advance(600);
    expect(await kept.read(anna, first)).toBeUndefined();
    expect(await kept.read(anna, second)).toBeDefined();
    await clock.advance(600);
    expect(kept.figures).toEqual({ results: 0, memoryBytes: 0, diskBytes: 0 });
  });

  test("goes to files of its owner alone when memory is full, and is read from there", async () => {
    await using kept = keeping({ memoryBytes: 2_500 });
    const ids = ["a", "b", "c", "d"].map((letter) => kept.keep(anna, textOf(letter, 1_000)));
    await until(() => kept.figures.memoryBytes <= 2_500);
    expect(kept.figures).toMatchObject({ results: 4, memoryBytes: 2_256, diskBytes: 2_256 });
    const names = await filesIn();
    expect(names).toHaveLength(2);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await stat(join(folder, names[0] ?? ""))).mode & 0o777).toBe(0o600);
    for (const [index, id] of ids.entries())
      expect((await kept.read(anna, id))?.said.bytes.toString()).toBe("abcd".charAt(index).repeat(1_000));
    expect(await kept.read(bert, ids[0] ?? "")).toBeUndefined();
  });

  test("makes room by the oldest of whoever keeps most", async () => {
    await using kept = keeping({ memoryBytes: 2_000, diskBytes: 2_000 });
    const small = kept.keep(bert, textOf("s", 500));
    const large = Array.from({ length: 5 }, () => kept.keep(anna, textOf("l", 1_000)));
    expect(await kept.read(bert, small)).toBeDefined();
    expect(await kept.read(anna, large[0] ?? "")).toBeUndefined();
    expect(await kept.read(anna, large[4] ?? "")).toBeDefined();
  });

  test("leaves no file behind, neither of this process nor of an earlier one", async () => {
    const before = keeping({ memoryBytes: 0 });
    before.keep(anna, textOf("a", 1_000));
    await until(async () => (await filesIn()).length === 1);
    await before[Symbol.asyncDispose]();
    expect(await filesIn()).toEqual([]);
    // As after kill -9.
    const killed = keeping({ memoryBytes: 0 });
    killed.keep(anna, textOf("a", 1_000));
    await until(async () => (await filesIn()).length === 1);
    await using next = keeping();
    await until(async () => (await filesIn()).length === 0);
    expect(next.figures.results).toBe(0);
    expect(failures).toEqual([]);
  });

  test("is dropped when there is no room on the disk, and nothing else happens", async () => {
    // A file stands where its parent should be: nothing can be written there.
    await writeFile(join(folder, "..", "file"), "");
    folder = join(folder, "..", "file", "results");
    await using kept = keeping({ memoryBytes: 1_000 });
    const id = kept.keep(anna, textOf("a", 1_000));
    await until(() => kept.figures.results === 0);
    expect(await kept.read(anna, id)).toBeUndefined();
    expect(kept.figures).toEqual({ results: 0, memoryBytes: 0, diskBytes: 0 });
    folder = join(folder, "..", "..", "results");
  });
});
