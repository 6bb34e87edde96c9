import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const serversFolder = fileURLToPath(new URL("../../test/servers", import.meta.url));

export const packageName = "bad-mcp-server";

export interface NpmRegistry extends AsyncDisposable {
  readonly url: string;
  /** Paths that were asked for, in order. */
  readonly requests: readonly string[];
  /** Variables that make npm use this registry, and a cache of its own below `directory`. */
  readonly env: Readonly<Record<string, string>>;
  /** `_npx` in that cache. */
  readonly npxFolder: string;
  /** While true, packages are asked for in vain: an install hangs. */
  isHolding: boolean;
}

/**
 * A registry on this machine with one package: the bad server, whose bin is named like it. Anything else is a 404, as
 * in the real one.
 */
export async function startNpmRegistry(directory: string): Promise<NpmRegistry> {
  const tarball = packServer(directory);
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? "");
    if (request.url === `/${packageName}`) {
      response.setHeader("Content-Type", "application/json");
      response.end(JSON.stringify(packument(url, tarball)));
    } else if (request.url === `/${packageName}.tgz`) {
      if (!registry.isHolding) response.end(tarball);
    } else response.writeHead(404, { "Content-Type": "application/json" }).end('{"error":"Not found"}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const cache = join(directory, "npm-cache");
  const registry: NpmRegistry = {
    url,
    requests,
    isHolding: false,
    npxFolder: join(cache, "_npx"),
    env: { npm_config_registry: url, npm_config_cache: cache, npm_config_update_notifier: "false", HOME: directory },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return registry;
}

const manifest = { name: packageName, version: "1.0.0", type: "module", bin: { [packageName]: "bad-server.mjs" } };

function packServer(directory: string): Buffer {
  const folder = join(directory, "package");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  for (const name of ["bad-server.mjs", "bad"])
    cpSync(join(serversFolder, name), join(folder, name), { recursive: true });
  const file = join(directory, "package.tgz");
  execFileSync("tar", ["czf", file, "-C", directory, "package"]);
  return readFileSync(file);
}

function packument(url: string, tarball: Buffer): object {
  const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
  const version = { ...manifest, dist: { tarball: `${url}/${packageName}.tgz`, integrity } };
  return { name: packageName, "dist-tags": { latest: "1.0.0" }, versions: { "1.0.0": version } };
}
