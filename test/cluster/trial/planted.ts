import { cp, mkdtemp, readFile, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Fault } from "./nemesis.ts";
import type { Violation } from "./judge.ts";

/** A mistake in the product, and what brings it to light. */
export interface Planted {
  readonly name: string;
  /** A text of the built files, and what is put in its place. */
  readonly find: string;
  readonly put: string;
  readonly faults: readonly Fault[];
  readonly seconds: number;
  readonly holdMs?: number;
  /** What it must be found by. */
  readonly rule: Violation["rule"];
}

const fault = (kind: Fault["kind"], atMs: number, forMs: number): Fault => ({ kind, atMs, forMs, nodes: ["n1"] });

/** The first node runs all servers, with leases of two seconds. */
export const plantedFaults: readonly Planted[] = [
  {
    name: "no look at the lease before a write",
    find: "if (!holds()) throw moved(server.slug, node);",
    put: "",
    faults: [fault("freeze", 1_500, 5_000)],
    seconds: 9,
    rule: "I3",
  },
  {
    name: "a call is repeated that was sent",
    find: "(!sent2 || target.repeatable)",
    put: "!0",
    faults: [fault("kill", 2_000, 1_000)],
    seconds: 6,
    holdMs: 300,
    rule: "I2",
  },
  {
    name: "a takeover that does not wait for the lease",
    find: "n.until + interval '${graceMs} ms' > clock_timestamp()",
    put: "false",
    faults: [fault("cutInbound", 1_000, 5_000)],
    seconds: 9,
    rule: "I3",
  },
  {
    name: "fencing that ends nothing",
    find: "for (let { lose } of holdings.values()) lose();",
    put: "",
    faults: [fault("cutAll", 1_000, 6_000)],
    seconds: 8,
    rule: "I5",
  },
];

const root = fileURLToPath(new URL("../../../", import.meta.url));

export interface PlantedBuild extends AsyncDisposable {
  /** The command's file. */
  readonly main: string;
}

/** A copy of what was built, with a mistake in it. Throws where the text is not there exactly once. */
export async function plant({ name, find, put }: Pick<Planted, "name" | "find" | "put">): Promise<PlantedBuild> {
  const folder = await mkdtemp(join(tmpdir(), "toolyard-planted-"));
  await cp(join(root, "dist/cli"), join(folder, "dist/cli"), { recursive: true });
  for (const file of ["package.json", "dist/build-id.txt"]) await cp(join(root, file), join(folder, file));
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  const files = (await readdir(join(folder, "dist/cli"))).filter((file) => file.endsWith(".js"));
  let found = 0;
  for (const file of files.map((one) => join(folder, "dist/cli", one))) {
    const parts = (await readFile(file, "utf8")).split(find);
    found += parts.length - 1;
    if (parts.length > 1) await writeFile(file, parts.join(put));
  }
  if (found !== 1) throw new Error(`"${name}": ${JSON.stringify(find)} is ${found} times in what was built`);
  return {
    main: join(folder, "dist/cli/main.js"),
    [Symbol.asyncDispose]: async () => await rm(folder, { recursive: true, force: true }),
  };
}

