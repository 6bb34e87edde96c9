import { readFile } from "node:fs/promises";
import type { LookupFunction } from "node:net";
import type { HttpTransport, TlsFiles } from "../../config/config.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { LoadLate } from "../../kernel/runtime/late-module.ts";
import type { CreateHttpClient } from "../../wire/http/http-client.ts";
import type { ReachedBy } from "./protocol/public-client.ts";
import type { LoginRoute } from "./flow/login-route.ts";
import { isExcepted, proxyFromVariables } from "../../wire/http/proxy-variables.ts";
import type { TlsMaterial } from "../../wire/http/undici-client.ts";

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
  { url, proxy: named, tls, isPublicOnly }: HttpTransport,
  deps: HttpRouteDeps,
): Promise<CreateHttpClient | undefined> {
  // An invalid URL is refused where the connection is made.
  const proxy = named ?? (URL.canParse(url) ? proxyFromVariables(new URL(url), deps.environment) : undefined);
  const used = proxy === false ? undefined : proxy;
  const createClient = await openRoute(slug, { proxy: used, tls }, deps);
  if (isPublicOnly !== true) return createClient;
  return await toPublic(new URL(url), { createClient, isProxied: used !== undefined }, deps);
}

async function toPublic(url: URL, reachedBy: ReachedBy, { loadLate }: HttpRouteDeps): Promise<CreateHttpClient> {
  const load = async () => await import("./protocol/public-client.ts");
  return await (await loadLate("the connection to public addresses", load)).createPublicClient(url.hostname, reachedBy);
}

/**
 * What a login reaches. The server itself is reached as it is for calls. Its authorization server is often elsewhere:
 * behind the same proxy unless `NO_PROXY` says otherwise, trusted with the authorities of Node beside the company's,
 * and never shown the certificate that is meant for the server. Rejects like {@link routeTo}.
 */
export function createLoginRoute(slug: string, transport: HttpTransport, deps: HttpRouteDeps): LoginRoute {
  return async (url, lookup) => {
    const isHome = URL.canParse(transport.url) && new URL(transport.url).origin === url.origin;
    const proxy = isHome ? proxyHome(transport, url, deps) : proxyElsewhere(transport, url, deps);
    const tls = url.protocol === "http:" ? undefined : isHome ? transport.tls : authorityOf(transport.tls);
    const route = { proxy, tls, lookup, trustsNode: !isHome };
    const isProxied = proxy !== undefined;
    const createClient = await openRoute(slug, route, deps);
    if (transport.isPublicOnly === true)
      return { createClient: await toPublic(url, { createClient, isProxied }, deps), isProxied };
    return createClient === undefined ? undefined : { createClient, isProxied };
  };
}

function proxyHome({ proxy }: HttpTransport, url: URL, { environment }: HttpRouteDeps): string | undefined {
  return proxy === false ? undefined : (proxy ?? proxyFromVariables(url, environment));
}

function proxyElsewhere({ proxy }: HttpTransport, url: URL, { environment }: HttpRouteDeps): string | undefined {
  if (proxy === undefined) return proxyFromVariables(url, environment);
  return proxy === false || isExcepted(url, environment) ? undefined : proxy;
}

function authorityOf(tls: TlsFiles | undefined): TlsFiles | undefined {
  return tls?.caFile === undefined ? undefined : { caFile: tls.caFile };
}

interface WantedRoute {
  readonly proxy: string | undefined;
  readonly tls: TlsFiles | undefined;
  readonly lookup?: LookupFunction;
  /** Node's own authorities are trusted beside that of `tls`. */
  readonly trustsNode?: boolean;
}

async function openRoute(
  slug: string,
  { proxy, tls, lookup, trustsNode = false }: WantedRoute,
  deps: HttpRouteDeps,
): Promise<CreateHttpClient | undefined> {
  if (proxy === undefined && tls === undefined) return undefined;
  if (proxy !== undefined && !isProxyUrl(proxy))
    throw new GatewayError("CONFIG_INVALID", `the proxy for ${slug} is not the URL of an HTTP proxy`, {
      hint: "Set `proxy` of the server, or HTTPS_PROXY and HTTP_PROXY, to a URL such as http://proxy.example:3128.",
    });
  const [material, { createUndiciClient }] = await Promise.all([
    tls === undefined ? undefined : readMaterial(slug, tls),
    deps.loadLate("the connection through proxies", async () => await import("../../wire/http/undici-client.ts")),
  ]);
  const trusted = trustsNode && material?.ca !== undefined ? await withNodeAuthorities(material, deps) : material;
  return (options) => createUndiciClient({ ...options, proxy, tls: trusted, lookup: options.lookup ?? lookup });
}

/** An authority that is given takes the place of Node's own and of those in NODE_EXTRA_CA_CERTS: they are put back. */
async function withNodeAuthorities(material: TlsMaterial, { environment }: HttpRouteDeps): Promise<TlsMaterial> {
  const extraFile = environment["NODE_EXTRA_CA_CERTS"];
  // As in Node, which only warns of a file that cannot be read.
  const extra = extraFile === undefined ? "" : await readFile(extraFile, "utf8").catch(() => "");
  // Loaded here, because few gateways need it and every start would pay for it.
  const { rootCertificates } = await import("node:tls");
  return { ...material, ca: [...rootCertificates, extra, material.ca].join("\n") };
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
