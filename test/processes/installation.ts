import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { cp, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** What a build writes last. */
const stamp = "dist/build-id.txt";

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** Folders of the packages that a package needs at run time, as Node would find them. */
function packagesOf(folder: string, found: Set<string> = new Set()): Set<string> {
  const { dependencies = {} } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
  for (const name of Object.keys(dependencies)) {
    const place = findPackage(name, folder);
    if (place === undefined || found.has(place)) continue;
    found.add(place);
    packagesOf(place, found);
  }
  return found;
}

function findPackage(name: string, from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const place = join(folder, "node_modules", name);
    if (existsSync(join(place, "package.json"))) return place;
    if (folder === dirname(folder)) return undefined;
  }
}

/** The package as it is installed without development dependencies: real files, of its own. */
export class Installation {
  readonly folder: string;
  constructor(folder: string) {
    this.folder = folder;
  }

  get main(): string {
    return join(this.folder, "dist/cli/main.js");
  }

  async addPackages(): Promise<void> {
    const inside = [...packagesOf(root.slice(0, -1))];
    // Those within another package's folder come with it.
    const outer = inside.filter((place) => !inside.some((other) => place.startsWith(`${other}/`)));
    await Promise.all(
      outer.map(async (place) => await cp(place, join(this.folder, place.slice(root.length)), { recursive: true })),
    );
  }

  async addBuild(): Promise<void> {
    await this.addHalfBuild();
    await cp(join(root, stamp), join(this.folder, stamp));
  }

  /** What a build writes before it is complete. */
  async addHalfBuild(): Promise<void> {
    await mkdir(this.folder, { recursive: true });
    const filter = (path: string): boolean => path !== join(root, stamp);
    await cp(join(root, "dist"), join(this.folder, "dist"), { recursive: true, preserveTimestamps: true, filter });
    await cp(join(root, "package.json"), join(this.folder, "package.json"));
  }

  /** What `npm ci` begins with. */
  async removePackages(): Promise<void> {
    await rm(join(this.folder, "node_modules"), { recursive: true });
  }

  async removeBuild(): Promise<void> {
    await rm(join(this.folder, "dist"), { recursive: true });
  }

  /** Builds other sources into the same place, as an update would. */
  async addOtherBuild(workshop: string): Promise<void> {
    for (const name of ["src", "scripts", "tsconfig.json", "package.json", "package-lock.json"])
      await cp(join(root, name), join(workshop, name), { recursive: true });
    await cp(join(root, "web"), join(workshop, "web"), {
      recursive: true,
      filter: (path) => path !== join(root, "web/node_modules"),
    });
    for (const packages of ["node_modules", "web/node_modules"])
      if (existsSync(join(root, packages))) await symlink(join(root, packages), join(workshop, packages));
    const changed = join(workshop, "src/front/rest/rest.ts");
    await writeFile(changed, `${readFileSync(changed, "utf8")}\nexport const newer = true;\n`);
    const { status, stderr } = spawnSync(process.execPath, [join(workshop, "scripts/build.mjs")], { encoding: "utf8" });
    if (status !== 0) throw new Error(stderr);
    await cp(join(workshop, "dist"), join(this.folder, "dist"), { recursive: true });
  }
}
