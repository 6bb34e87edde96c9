import { mkdtemp, rm, stat, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseDocument, type Document } from "../../../config/file/document.ts";
import { readConfigText } from "../../../config/file/file.ts";
import { findServers } from "../../../config/file/source.ts";
import { isSecretSetting } from "../../../config/words/secret-names.ts";
import { broken, doubtful, fine, type Finding } from "./doctor-finding.ts";

const hasModes = process.platform !== "win32";
const othersMay = 0o077;

/** Whether others can read secrets that stand in the file. */
export async function checkConfigFile(file: string): Promise<readonly Finding[]> {
  const secrets = literalSecrets(parseDocument(await readConfigText(file), file));
  if (secrets.length === 0) return [];
  const { mode } = await stat(file);
  const names = secrets.slice(0, 3).join(", ") + (secrets.length > 3 ? ` and ${secrets.length - 3} more` : "");
  if (hasModes && (mode & othersMay) !== 0)
    return [
      doubtful(
        `${file} has secrets in it (${names}), and others on this machine can read it`,
        `Run \`chmod 600 ${file}\`, or write \${VARIABLES} instead of the secrets.`,
      ),
    ];
  return [fine(`${file} has secrets in it (${names}), and only you can read it`)];
}

/** Paths of values whose names say that they are secret, and that are no references to variables. */
function literalSecrets(document: Document): readonly string[] {
  return findServers(document).flatMap(({ key, path }) =>
    ["env", "headers"].flatMap((group) =>
      document.keys([...path, group]).flatMap((name) => {
        const value = document.value([...path, group, name]);
        const isLiteral = typeof value === "string" && value !== "" && !value.includes("${");
        return isLiteral && isSecretSetting(name) ? [`${key}.${group}.${name}`] : [];
      }),
    ),
  );
}

/** Records of a busy day take some 100 MB. */
const leastSpaceBytes = 100 * 1024 * 1024;

/** Whether the data directory is for its owner only, can be written, and has room. */
export async function checkDataDirectory(directory: string): Promise<readonly Finding[]> {
  const found = await stat(directory).catch(() => undefined);
  if (found === undefined) return [fine(`data directory ${directory} is made at the first start`)];
  if (!found.isDirectory())
    return [broken(`data directory ${directory} is a file`, "Choose another one with --data-dir.")];
  return [...checkMode(directory, found.mode), await checkWriting(directory), ...(await checkSpace(directory))];
}

function checkMode(directory: string, mode: number): readonly Finding[] {
  if (!hasModes || (mode & othersMay) === 0) return [];
  return [
    doubtful(`data directory ${directory} can be read by others on this machine`, `Run \`chmod 700 ${directory}\`.`),
  ];
}

async function checkWriting(directory: string): Promise<Finding> {
  try {
    const folder = await mkdtemp(join(directory, ".doctor-"));
    await writeFile(join(folder, "file"), "x").finally(async () => await rm(folder, { recursive: true, force: true }));
    return fine(`data directory ${directory} can be written`);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    return broken(
      `data directory ${directory} cannot be written (${code})`,
      code === "ENOSPC"
        ? "Free space on its disk."
        : "Make it writable for you, or choose another one with --data-dir.",
    );
  }
}

async function checkSpace(directory: string): Promise<readonly Finding[]> {
  const disk = await statfs(directory).catch(() => undefined);
  if (disk === undefined) return [];
  const free = disk.bavail * disk.bsize;
  if (free >= leastSpaceBytes) return [];
  return [doubtful(`${Math.round(free / 1024 ** 2)} MB are free for the data directory`, "Free space on its disk.")];
}
