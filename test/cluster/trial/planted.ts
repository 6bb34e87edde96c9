import { cp, mkdtemp, readFile, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { mainFile } from "../../harness/gateway.ts";
import type { Violation } from "./judge.ts";
import type { Fault } from "./nemesis.ts";
import type { NodeName } from "./world.ts";

/** A mistake in the product, and what brings it to light. */
export interface Planted {
  readonly name: string;
  /** Texts of the built files, and what is put in their place. */
  readonly edits: readonly (readonly [find: string, put: string])[];
  readonly faults: readonly Fault[];
  readonly seconds: number;
  readonly holdMs?: number;
  readonly leaseMs?: number;
  /** What it must be found by. */
  readonly rule: Violation["rule"];
}

const fault = (kind: Fault["kind"], atMs: number, forMs: number, node: NodeName = "n1"): Fault => ({
  ...{ kind, atMs, forMs, nodes: [node] },
});

/** The first node runs all servers, with leases of two seconds where nothing else is said. */
export const plantedFaults: readonly Planted[] = [
  {
    // Either of them is enough where no event waits longer than the timer.
    name: "no look at the lease before a write, and no timer for its end",
    edits: [
      ["if (!holds()) throw moved(server.slug, node);", ""],
      ["leftMs <= 0 && onPassed()", "0"],
    ],
    faults: [fault("freeze", 1_500, 8_000)],
    seconds: 11,
    rule: "I3",
  },
  {
    name: "a call is repeated that was sent",
    edits: [["(!sent2 || target.repeatable)", "!0"]],
    faults: [fault("kill", 3_000, 1_000)],
    seconds: 7,
    // A kill is proven, and waits for no lease.
    ...{ holdMs: 1_000, leaseMs: 10_000 },
    rule: "I2",
  },
  {
    name: "a takeover that does not wait for the lease",
    edits: [["n.until + interval '${graceMs} ms' > clock_timestamp()", "false"]],
    // The owner serves until its lease ends; a node that is started meanwhile has no link whose silence it waits for.
    faults: [fault("cutAll", 1_000, 14_000), fault("kill", 1_500, 500, "n2")],
    seconds: 16,
    leaseMs: 20_000,
    rule: "I3",
  },
  {
    name: "fencing that ends nothing",
    edits: [["for (let { kill } of holdings.values()) kill();", ""]],
    faults: [fault("cutAll", 1_000, 6_000)],
    seconds: 8,
    rule: "I5",
  },
];

const root = join(dirname(mainFile), "../..");

export interface PlantedBuild extends AsyncDisposable {
  /** The command's file. */
  readonly main: string;
}

/** A copy of what was built, which may say that it is another version. */
export async function copyBuild(version?: string): Promise<PlantedBuild> {
  const folder = await mkdtemp(join(tmpdir(), "toolyard-planted-"));
  await cp(join(root, "dist/cli"), join(folder, "dist/cli"), { recursive: true });
  for (const file of ["package.json", "dist/build-id.txt"]) await cp(join(root, file), join(folder, file));
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  const manifest = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as object;
  if (version !== undefined)
    await writeFile(join(folder, "package.json"), JSON.stringify({ ...manifest, version }, undefined, 2));
  return {
    main: join(folder, "dist/cli/main.js"),
    [Symbol.asyncDispose]: async () => await rm(folder, { recursive: true, force: true }),
  };
}

/** A copy of what was built, with a mistake in it. Throws where the text is not there exactly once. */
export async function plant({ name, edits }: Pick<Planted, "name" | "edits">): Promise<PlantedBuild> {
  const build = await copyBuild();
  const folder = join(dirname(build.main), "../..");
  const files = (await readdir(join(folder, "dist/cli"))).filter((file) => file.endsWith(".js"));
  const texts = new Map<string, string>();
  for (const file of files) texts.set(file, await readFile(join(folder, "dist/cli", file), "utf8"));
  for (const [find, put] of edits) {
    const holders = [...texts].filter(([, text]) => text.includes(find));
    const [[file, text] = ["", ""]] = holders;
    if (holders.length !== 1 || text.indexOf(find) !== text.lastIndexOf(find))
      throw new Error(`"${name}": ${JSON.stringify(find)} is not once in what was built`);
    texts.set(
      file,
      text.replace(find, () => put),
    );
    await writeFile(join(folder, "dist/cli", file), texts.get(file) ?? "");
  }
  return build;
}
