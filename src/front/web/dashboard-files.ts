import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { extname, join } from "node:path";

/** A file of the dashboard, as the build made it. */
export interface DashboardFile {
  /** Compressed with brotli, and nothing else: every browser takes it. */
  readonly path: string;
  readonly bytes: number;
  readonly type: string;
  readonly etag: string;
  /** When it was written. */
  readonly mtimeMs: number;
}

/** The dashboard's files by their name within `/ui/`. The page itself is `index.html`. */
export type DashboardFiles = ReadonlyMap<string, DashboardFile>;

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

/** Finds the files of a built dashboard; empty where none was built. Nothing else is served. */
export function findDashboardFiles(folder: string): DashboardFiles {
  const files = new Map<string, DashboardFile>();
  for (const name of listNames(folder)) {
    if (!name.endsWith(".br")) continue;
    const own = name.slice(0, -".br".length).replaceAll("\\", "/");
    const path = join(folder, name);
    const content = readFileSync(path);
    const etag = `"${createHash("sha256").update(content).digest("base64url").slice(0, 27)}"`;
    const type = types[extname(own)] ?? "application/octet-stream";
    files.set(own, { path, bytes: content.length, type, etag, mtimeMs: statSync(path).mtimeMs });
  }
  return files;
}

/** Whether the page is another one than was found, or is there now. */
export function hasChanged(files: DashboardFiles): boolean {
  const page = files.get("index.html");
  return page === undefined || statSync(page.path, { throwIfNoEntry: false })?.mtimeMs !== page.mtimeMs;
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: "utf8" });
  } catch {
    return [];
  }
}
