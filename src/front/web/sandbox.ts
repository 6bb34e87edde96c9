import type { IncomingMessage, ServerResponse } from "node:http";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { asciiJson } from "../../wire/json/ascii-json.ts";

/** Where the frame around pages of servers (MCP Apps) is. */
export const sandboxPath = "/sandbox";

/**
 * The origins that the dashboard at this address and the frame have. On this machine the frame is at the other name of
 * it: another origin, and another site, which browsers keep in another process. Behind a public address there is no
 * other name that is known to lead here; the frame's policy then takes its origin away, as it does here, too.
 */
export function sandboxOrigins(publicUrl: string): { readonly dashboard: string; readonly sandbox: string } {
  const url = new URL(publicUrl);
  const isHere = url.protocol === "http:" && (url.hostname === "127.0.0.1" || url.hostname === "localhost");
  if (!isHere) return { dashboard: url.origin, sandbox: url.origin };
  const port = url.port === "" ? "" : `:${url.port}`;
  return { dashboard: `${url.protocol}//127.0.0.1${port}`, sandbox: `${url.protocol}//localhost${port}` };
}

/**
 * Serves the frame. Its policy says only who may show it, that it has no origin, and that it and the page in it lead
 * nowhere: what else it said would hold for the page in it too, which has a policy of its own. Throws ROUTE_UNKNOWN at
 * the dashboard's own name.
 */
export function sendSandbox(request: IncomingMessage, response: ServerResponse, publicUrl: string): void {
  const { dashboard, sandbox } = sandboxOrigins(publicUrl);
  if (new URL(publicUrl).origin !== sandbox)
    throw new GatewayError("ROUTE_UNKNOWN", "pages of servers are not shown at the dashboard's own name");
  const body = `<!doctype html><meta charset="utf-8"><title>Page of a server</title><style>${style}</style><script>${script(dashboard)}</script>`;
  response.writeHead(200, {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Length": Buffer.byteLength(body),
    "Content-Security-Policy": `frame-ancestors ${dashboard}; sandbox allow-scripts allow-forms; frame-src 'none'`,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), clipboard-read=(), display-capture=()",
  });
  response.end(request.method === "HEAD" ? undefined : body);
}

const style = "html,body{margin:0;height:100%}iframe{display:block;width:100%;height:100%;border:0}";

/**
 * Passes messages between the dashboard and the page (ext-apps 2026-01-26, Sandbox proxy). The page is set once; what
 * it sends as if it were this frame is dropped.
 */
function script(dashboard: string): string {
  return `"use strict";
const host = ${asciiJson(dashboard)};
const own = "ui/notifications/sandbox-";
const inner = document.createElement("iframe");
inner.setAttribute("sandbox", "allow-scripts allow-forms");
inner.title = document.title;
addEventListener("message", ({ source, origin, data }) => {
  const isOwn = String(data?.method ?? "").startsWith(own);
  if (source === parent && origin === host) {
    if (!isOwn) inner.contentWindow?.postMessage(data, "*");
    else if (!inner.isConnected && data.method === own + "resource-ready") {
      inner.srcdoc = String(data.params.html);
      document.body.append(inner);
    }
  } else if (source !== null && source === inner.contentWindow && !isOwn) parent.postMessage(data, host);
});
addEventListener("DOMContentLoaded", () =>
  parent.postMessage({ jsonrpc: "2.0", method: own + "proxy-ready", params: {} }, host));`;
}
