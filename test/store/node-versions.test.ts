import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { bundleChild } from "../harness/bundled-child.ts";
import { sqlWorkerFile } from "../harness/records.ts";

/** A Node that `scripts/conformance/cached-package.mjs` has fetched, for the conformance suite or by hand. */
const cached = (version: string): string =>
  fileURLToPath(new URL(`../../.cache/node${version}/node_modules/node/bin/node`, import.meta.url));

const nodes = [
  ["this Node", process.execPath],
  ["Node 22", cached("22")],
  ["Node 24", cached("24")],
] as const;

test.each(nodes.filter(([, path]) => existsSync(path)))(
  "records are kept and closed without a word on %s",
  async (_name, node) => {
    const folder = await mkdtemp(join(tmpdir(), "toolyard-node-"));
    await using roundTrip = await bundleChild("test/store/children/round-trip.ts");
    const child = roundTrip.startWith(node, folder, sqlWorkerFile.href);
    if (child.stdout === null || child.stderr === null) throw new Error("no streams");
    const [said, warned, exit] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
    expect(exit).toEqual([0, null]);
    const told = JSON.parse(said) as { readonly driver: string };
    expect(told).toMatchObject({ status: "ready", calls: 100, kind: "whole", after: "closed" });
    // The child looks for a driver in its main thread, which the gateway never does.
    const ofDriver = /^\(node:\d+\) ExperimentalWarning: SQLite[^\n]*\n\(Use `node --trace-warnings[^\n]*\n/;
    expect(warned.replace(ofDriver, "")).toBe("");
    await rm(folder, { recursive: true, force: true });
  },
);
