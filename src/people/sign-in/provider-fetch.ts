import { isLoopbackHost } from "../../servers/logins/protocol/addresses.ts";
import type { Outgoing } from "../../servers/logins/outgoing.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";

interface FetchOptions {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

/** As the libraries call `fetch`. */
export type ProviderFetch = (url: string, options: FetchOptions) => Promise<Response>;

const neverAborted = new AbortController().signal;
const withoutBody = [101, 204, 205, 304];

/**
 * Reaches an identity provider: over https, or on this machine; nothing is followed, and what comes is small and in
 * time. Rejects with PROVIDER_UNREACHABLE.
 */
export function createProviderFetch(outgoing: Outgoing): ProviderFetch {
  return async (url, { method, headers, body, signal }) => {
    const { protocol, hostname, origin } = new URL(url);
    if (protocol !== "https:" && !isLoopbackHost(hostname))
      throw new GatewayError("PROVIDER_UNREACHABLE", `${origin} is not encrypted`);
    try {
      const answer = await outgoing(
        url,
        {
          method: method === "POST" ? "POST" : "GET",
          headers: Object.fromEntries(new Headers(headers)),
          follows: false,
          ...(body === undefined || body === null ? {} : { body: toText(body) }),
        },
        signal ?? neverAborted,
      );
      const content = withoutBody.includes(answer.status) ? null : new Uint8Array(answer.body);
      return new Response(content, { status: answer.status, headers: answer.headers });
    } catch (error) {
      const why = error instanceof Error ? error.message : "it does not answer";
      throw new GatewayError("PROVIDER_UNREACHABLE", `the identity provider cannot be reached: ${why}`, {
        cause: error,
      });
    }
  };
}

/** Bodies are form-encoded. */
function toText(body: unknown): string {
  if (typeof body === "string") return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new TypeError("an identity provider is sent forms only");
}
