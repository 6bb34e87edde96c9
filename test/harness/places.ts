import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface LockFile {
  readonly folder: string;
  readonly pid: number;
  readonly url: string | null;
  readonly secret: string;
  readonly serves: { readonly configFile: string | null };
}

/** Folders of the gateways that have ever run with a data directory. */
export function placesIn(dataDir: string): string[] {
  const parent = join(dataDir, "gateways");
  return existsSync(parent)
    ? readdirSync(parent, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => join(parent, name))
    : [];
}

/** The locks in them: one per gateway that runs, or was killed. */
export function locksIn(dataDir: string): LockFile[] {
  return placesIn(dataDir).flatMap((folder) => {
    try {
      return [{ folder, ...(JSON.parse(readFileSync(join(folder, "gateway.lock"), "utf8")) as object) } as LockFile];
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
      throw error;
    }
  });
}

/** The only place of a data directory. */
export function onlyPlace(dataDir: string): string {
  const [folder, ...others] = placesIn(dataDir);
  if (folder === undefined || others.length > 0) throw new Error(`${others.length + 1} places, or none`);
  return folder;
}
