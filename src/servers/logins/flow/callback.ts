import { timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { untilAborted } from "../../../kernel/runtime/abort.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";

/** The end of the browser's way: an address that takes one authorization response. */
export interface Callback extends AsyncDisposable {
  readonly redirectUrl: string;
  /**
   * Resolves to the query of the first response that carries `state`; what carries another is refused and forgotten.
   */
  response(state: string, signal: AbortSignal): Promise<URLSearchParams>;
}

const path = "/callback";
const securityHeaders = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'",
  "referrer-policy": "no-referrer",
  connection: "close",
};

/**
 * An address on this machine (RFC 8252, section 7.3). Listens on 127.0.0.1; port 0 lets the system choose. Rejects with
 * LOGIN_FAILED when the port is taken.
 */
export async function openCallback(port: number): Promise<Callback> {
  let wanted: { readonly state: Buffer; readonly done: (query: URLSearchParams) => void } | undefined;
  const server = createServer({ requestTimeout: 10_000, maxHeaderSize: 16 * 1024 }, (request, response) => {
    const query = queryOf(request, redirectUrl);
    const state = Buffer.from(query?.get("state") ?? "", "utf8");
    if (
      query === undefined ||
      wanted === undefined ||
      state.length !== wanted.state.length ||
      !timingSafeEqual(state, wanted.state)
    ) {
      show(response, 400, "This is not the answer that toolyard waits for.");
      return;
    }
    const { done } = wanted;
    wanted = undefined;
    show(response, 200, "toolyard has its answer. You can close this window and look at your terminal.");
    done(query);
  });
  await listen(server, port);
  const redirectUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  return {
    redirectUrl,
    async response(state, signal) {
      const answered = new Promise<URLSearchParams>((done) => {
        wanted = { state: Buffer.from(state, "utf8"), done };
      });
      return await untilAborted(answered, signal);
    },
    async [Symbol.asyncDispose]() {
      await new Promise<void>((done) => {
        server.close(() => done());
        server.closeIdleConnections();
      });
    },
  };
}

async function listen(server: Server, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(
        new GatewayError(
          "LOGIN_FAILED",
          `nothing can listen on 127.0.0.1:${port} for the browser's answer (${error.code ?? error.name})`,
        ),
      ),
    );
    server.listen(port, "127.0.0.1", resolve);
  });
}

/** A page in the browser may send anything here under any name: only our own address counts (DNS rebinding). */
function queryOf(request: IncomingMessage, redirectUrl: string): URLSearchParams | undefined {
  const { host, origin } = new URL(redirectUrl);
  const target = request.url ?? "";
  if (request.method !== "GET" || request.headers.host !== host || !URL.canParse(target, origin)) return undefined;
  const url = new URL(target, origin);
  return url.origin === origin && url.pathname === path ? url.searchParams : undefined;
}

/** Nothing of the request is in the page. */
function show(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, securityHeaders).end(`<!doctype html><title>toolyard</title><p>${text}</p>\n`);
}
