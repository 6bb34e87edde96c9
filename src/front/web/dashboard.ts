import { createReadStream, readdirSync, readFileSync, statSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream";
import { createBrotliDecompress } from "node:zlib";
import { GatewayError, toGatewayError } from "../../kernel/failures/gateway-error.ts";
import { refuseWithProblem } from "../http/problem.ts";
import type { PublicUrl } from "../http/public-url.ts";
import { sandboxOrigins, sandboxPath, sendSandbox } from "./sandbox.ts";
import { isLoopback } from "./session-request.ts";
import { createHash } from "node:crypto";
import { extname, join } from "node:path";

/** Where the dashboard is. */
export const dashboardPath = "/ui/";

export interface DashboardDeps {
  /** The built dashboard. */
  readonly folder: string;
  readonly publicUrl: PublicUrl;
}

export type Dashboard = (request: IncomingMessage, response: ServerResponse) => void;

/** Nothing is loaded from elsewhere, no script is made from text, and no other page may contain this one. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "media-src data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "object-src 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const features = ["camera", "microphone", "geolocation", "payment", "usb", "serial", "hid", "midi", "display-capture"];

const fixedHeaders: Readonly<Record<string, string>> = Object.freeze({
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Permissions-Policy": features.map((feature) => `${feature}=()`).join(", "),
});

/** Pages of servers are shown in a frame of another origin, and in nothing else. */
function headersAt(publicUrl: string): Readonly<Record<string, string>> {
  const { sandbox } = sandboxOrigins(publicUrl);
  return { ...fixedHeaders, "Content-Security-Policy": `${policy}; frame-src ${sandbox}${sandboxPath}` };
}

/** Serves the dashboard's files. They contain nothing of the gateway: what they show they ask for over REST. */
export function createDashboard({ folder, publicUrl }: DashboardDeps): Dashboard {
  let files = findDashboardFiles(folder);

  return (request, response) => {
    const address = publicUrl(request);
    const headers = headersAt(address);
    try {
      if (request.method !== "GET" && request.method !== "HEAD")
        throw new GatewayError("HTTP_METHOD_UNSUPPORTED", "only GET, HEAD is served here");
      // With its slash at the end, without which relative addresses in the page would mean something else.
      const [path = "/"] = (request.url ?? "/").split(/[?#]/, 1);
      if (path === sandboxPath) return sendSandbox(request, response, address);
      const elsewhere = betterAddress(request, path, publicUrl);
      if (elsewhere === undefined) sendFile(request, response, { ...find(path), headers });
      else response.writeHead(307, { ...headers, Location: elsewhere, "Cache-Control": "no-store" }).end();
    } catch (error) {
      refuseWithProblem(response, toGatewayError(error), {
        ...headers,
        ...(request.method === "GET" || request.method === "HEAD" ? {} : { Allow: "GET, HEAD" }),
      });
      request.resume();
    }
  };

  function find(path: string): FoundFile {
    const name = path.slice(dashboardPath.length);
    const isAsset = name.startsWith("assets/");
    // An update replaces page and files together: the old page would ask for files that were removed.
    if (!isAsset && hasChanged(files)) files = findDashboardFiles(folder);
    const file = files.get(isAsset ? name : "index.html");
    if (file !== undefined) return { file, isAsset };
    // A page that was opened before an update asks for removed files: it then loads itself again.
    if (isAsset) throw new GatewayError("ROUTE_UNKNOWN", "the dashboard has no such file");
    throw new GatewayError("ROUTE_UNKNOWN", "this installation has no dashboard", {
      hint: "`npm run build` makes it.",
    });
  }
}

interface SentFile extends FoundFile {
  readonly headers: Readonly<Record<string, string>>;
}

interface FoundFile {
  readonly file: DashboardFile;
  /** Whether its name has a hash of its content, so that it never changes. */
  readonly isAsset: boolean;
}

/**
 * Where the browser should go instead. `/ui` has no slash; and of this machine's names only `127.0.0.1` is used, so
 * that there is one session and not one for each name.
 */
function betterAddress(request: IncomingMessage, path: string, publicUrl: PublicUrl): string | undefined {
  const here = publicUrl(request);
  const moved = new URL(here);
  const isReached = /^(?:::ffff:)?127\./.test(request.socket.localAddress ?? "");
  const isOtherName = moved.protocol === "http:" && (moved.hostname === "localhost" || moved.hostname === "[::1]");
  const isToMove = isOtherName && isReached && isLoopback(request);
  if (path !== "/ui" && !isToMove) return undefined;
  if (isToMove) moved.hostname = "127.0.0.1";
  return `${isToMove ? moved.origin : here}${path === "/ui" ? dashboardPath : path}`;
}

function sendFile(request: IncomingMessage, response: ServerResponse, { file, isAsset, headers }: SentFile): void {
  const caching = isAsset ? "public, max-age=31536000, immutable" : "no-cache";
  const own = { ...headers, "Content-Type": file.type, "Cache-Control": caching, ETag: file.etag, Vary };
  if (request.headers["if-none-match"]?.split(",").some((tag) => tag.trim().replace(/^W\//, "") === file.etag)) {
    response.writeHead(304, own).end();
    return;
  }
  const isPacked = /(?:^|,)\s*br\s*(?:,|$|;(?!\s*q=0(?:\.0*)?\s*(?:,|$)))/i.test(
    String(request.headers["accept-encoding"] ?? ""),
  );
  if (isPacked) response.writeHead(200, { ...own, "Content-Encoding": "br", "Content-Length": file.bytes });
  else response.writeHead(200, own);
  if (request.method === "HEAD") {
    response.end();
    return;
  }
  // A file that was removed, because the installation was replaced, ends the answer; the page then loads itself again.
  const ended = (): void => undefined;
  if (isPacked) pipeline(createReadStream(file.path), response, ended);
  else pipeline(createReadStream(file.path), createBrotliDecompress(), response, ended);
}

const Vary = "Accept-Encoding";

/** A file of the dashboard, as the build made it. */
interface DashboardFile {
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
function findDashboardFiles(folder: string): DashboardFiles {
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
function hasChanged(files: DashboardFiles): boolean {
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
