import { closeChannels, withoutParsedShadows } from "./closed-channels.ts";

/** What a page of a server (MCP Apps) says about itself in `_meta.ui` (ext-apps 2026-01-26, Resource metadata). */
export interface AppMeta {
  readonly csp?: {
    readonly connectDomains?: readonly string[];
    readonly resourceDomains?: readonly string[];
    readonly frameDomains?: readonly string[];
    readonly baseUriDomains?: readonly string[];
  };
  readonly prefersBorder?: boolean;
}

export interface AppPolicy {
  /** The content security policy of the page. */
  readonly text: string;
  /** Addresses that it names and may reach, once somebody has agreed. */
  readonly reaches: readonly string[];
  /** What it names and is not given: not an address, or more than one can agree to. */
  readonly refused: readonly string[];
}

/** The page of a tool, in either spelling; undefined for a tool without. */
export function appUriOf(definition: Readonly<Record<string, unknown>>): string | undefined {
  const meta = definition["_meta"] as
    | { readonly ui?: { readonly resourceUri?: unknown }; readonly "ui/resourceUri"?: unknown }
    | null
    | undefined;
  const uri = meta?.ui?.resourceUri ?? meta?.["ui/resourceUri"];
  return typeof uri === "string" && uri.startsWith("ui://") ? uri : undefined;
}

/** One host, with a port or none: no wildcard, no path, and nothing that would end the directive. */
const source = /^(?:https|wss):\/\/(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,63}(?::\d{1,5})?$/i;

/** The policy of a page: only its own content, and the hosts that it names one by one. */
export function toAppPolicy({ csp = {} }: AppMeta): AppPolicy {
  const connect = listOf(csp.connectDomains);
  const resources = listOf(csp.resourceDomains);
  const named = [...connect, ...resources];
  const isFit = (text: string): boolean => source.test(text);
  const loads = resources.filter(isFit).join(" ");
  const asks = connect.filter(isFit).join(" ");
  const directives = [
    "default-src 'none'",
    `script-src 'unsafe-inline' ${loads}`,
    `style-src 'unsafe-inline' ${loads}`,
    `img-src data: blob: ${loads}`,
    `font-src data: ${loads}`,
    `media-src data: blob: ${loads}`,
    `connect-src ${asks === "" ? "'none'" : asks}`,
    "base-uri 'none'",
    "form-action 'none'",
  ];
  return {
    text: directives.map((directive) => directive.trim()).join("; "),
    reaches: [...new Set(named.filter(isFit))],
    refused: [
      ...new Set([...named.filter((text) => !isFit(text)), ...listOf(csp.frameDomains), ...listOf(csp.baseUriDomains)]),
    ],
  };
}

function listOf(given: unknown): readonly string[] {
  return Array.isArray(given) ? given.filter((text): text is string => typeof text === "string") : [];
}

/**
 * The page with its policy, and the script that closes what no policy does, before everything else in it. A parser that
 * has seen this head takes a second doctype, html and head for nothing, so that no page can put anything before its
 * policy.
 */
export function withPolicy(html: string, policy: string): string {
  const escaped = policy.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  return `<!doctype html><html><head><meta http-equiv="Content-Security-Policy" content="${escaped}">${closeChannels}${withoutParsedShadows(html)}`;
}

/**
 * Where the frame around such a page is: under this machine's other name, which for a browser is another site; behind
 * a public address under the same one, where the frame's own policy takes its origin away.
 */
export function sandboxUrl({ protocol, hostname, host, port }: Location | URL): string {
  return hostname === "127.0.0.1" ? `${protocol}//localhost:${port}/sandbox` : `${protocol}//${host}/sandbox`;
}
