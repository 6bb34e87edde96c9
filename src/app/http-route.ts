import { readFile } from "node:fs/promises";
import type { HttpTransport, TlsFiles } from "../config/config.ts";
import { GatewayError } from "../kernel/gateway-error.ts";
import type { LoadLate } from "../kernel/late-module.ts";
import type { CreateHttpClient } from "../wire/http/http-client.ts";
import { proxyFromVariables } from "../wire/http/proxy-variables.ts";
import type { TlsMaterial } from "../wire/http/undici-client.ts";

export interface HttpRouteDeps {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly loadLate: LoadLate;
}

/**
 * The HTTP client for servers behind a proxy and for those with certificates of their own. Undefined for all others,
 * which our own client reaches. Throws CONFIG_INVALID for an invalid proxy URL and for a file that cannot be read.
 */
export async function routeTo(
  slug: string,
  { url, proxy: named, tls }: HttpTransport,
  deps: HttpRouteDeps,
): Promise<CreateHttpClient | undefined> {
  // An invalid URL is refused where the connection is made.
  const proxy = named ?? (URL.canParse(url) ? proxyFromVariables(new URL(url), deps.environment) : undefined);
  if ((proxy === undefined || proxy === false) && tls === undefined) return undefined;
  if (typeof proxy === "string" && !isProxyUrl(proxy))
    throw new GatewayError("CONFIG_INVALID", `the proxy of ${slug} is not the URL of an HTTP proxy`, {
      hint: "Set `proxy` of the server, or HTTPS_PROXY and HTTP_PROXY, to a URL such as http://proxy.example:3128.",
    });
  const [material, { createUndiciClient }] = await Promise.all([
    tls === undefined ? undefined : readMaterial(slug, tls),
    deps.loadLate("http-route", async () => await import("../wire/http/undici-client.ts")),
  ]);
  return (options) => createUndiciClient({ ...options, proxy: proxy === false ? undefined : proxy, tls: material });
}

function isProxyUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

async function readMaterial(slug: string, files: TlsFiles): Promise<TlsMaterial> {
  const read = async (field: "caFile" | "certFile" | "keyFile"): Promise<string | undefined> => {
    const path = files[field];
    if (path === undefined) return undefined;
    try {
      return await readFile(path, "utf8");
    } catch (error) {
      const why = error instanceof Error && "code" in error ? String(error.code) : "it cannot be read";
      throw new GatewayError("CONFIG_INVALID", `tls.${field} of ${slug} cannot be read: ${path} (${why})`, {
        cause: error,
        hint: "Relative paths start at the folder of the configuration file. The gateway must be allowed to read the file.",
      });
    }
  };
  const [ca, cert, key] = await Promise.all([read("caFile"), read("certFile"), read("keyFile")]);
  return { ca, cert, key, passphrase: files.passphrase };
}
