import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** An MCP registry with the API of the official one, for what it is given. */
export interface RegistryStandIn extends AsyncDisposable {
  readonly url: string;
  /** Paths that were asked for. */
  readonly asked: readonly string[];
}

export interface RegistryServerJson {
  readonly name: string;
  readonly version: string;
  readonly [field: string]: unknown;
}

/** `status` of a server is what the registry says of it; `active` where it is not named. */
export async function startRegistry(
  servers: readonly RegistryServerJson[],
  status: Readonly<Record<string, string>> = {},
): Promise<RegistryStandIn> {
  const asked: string[] = [];
  const wrap = (server: RegistryServerJson) => ({
    server,
    _meta: {
      "io.modelcontextprotocol.registry/official": {
        status: status[server.name] ?? "active",
        publishedAt: "2026-01-01T00:00:00Z",
        isLatest: true,
      },
    },
  });
  const http = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://registry");
    asked.push(request.url ?? "");
    const json = (code: number, value: unknown): void => {
      response.writeHead(code, { "Content-Type": "application/json" }).end(JSON.stringify(value));
    };
    if (url.pathname === "/v0.1/servers") {
      const search = url.searchParams.get("search") ?? "";
      const found = servers.filter(({ name }) => name.includes(search));
      return json(200, { servers: found.map(wrap), metadata: { count: found.length } });
    }
    const [, name = "", version = ""] = /^\/v0\.1\/servers\/([^/]+)\/versions\/([^/]+)$/.exec(url.pathname) ?? [];
    const server = servers.find(
      (one) => one.name === decodeURIComponent(name) && (version === "latest" || version === one.version),
    );
    return server === undefined
      ? json(404, { title: "Not Found", status: 404, detail: "Server not found" })
      : json(200, wrap(server));
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    asked,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
