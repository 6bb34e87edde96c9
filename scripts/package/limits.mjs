// What an installed Toolyard may weigh. A test looks at the lock file; `npm run package:check` installs it.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { satisfies } from "semver";

/** Packages, Toolyard among them, and what all of them take on the disk. */
export const limits = { packages: 60, bytes: 20e6 };
/** The oldest Node that we run on, and the first of each later line that is maintained. */
export const nodeVersions = ["20.19.0", "22.12.0", "24.0.0"];
const blockBytes = 4_096;

/** What a folder takes on disk, where every file fills its last block. */
export function diskBytes(folder, skipped = new Set()) {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name);
    if (skipped.has(entry.name) || entry.isSymbolicLink()) return sum;
    if (entry.isDirectory()) return sum + diskBytes(path, skipped);
    return sum + Math.ceil(statSync(path).size / blockBytes) * blockBytes;
  }, 0);
}

/** The packages of a lock file that `npm ci --omit=dev` installs: their folders, and what the lock says of them. */
export function installedPackages(lockFile) {
  const { packages } = JSON.parse(readFileSync(lockFile, "utf8"));
  return Object.entries(packages).filter(
    // A workspace stands elsewhere and is installed nowhere.
    ([folder, { dev, link }]) => folder.startsWith("node_modules/") && dev !== true && link !== true,
  );
}

/** Packages that complain on a Node that we promise to run on. */
export function engineComplaints(packages) {
  return packages.flatMap(([folder, { engines }]) =>
    nodeVersions
      .filter((version) => !satisfies(version, engines?.node ?? "*"))
      .map((version) => `${folder} on Node ${version}`),
  );
}
