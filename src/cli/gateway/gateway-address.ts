import { createLoginRoute } from "../../servers/logins/http-route.ts";
import { exposureNames } from "../../config/rows/exposures.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { isLoopbackHost } from "../../servers/logins/protocol/addresses.ts";
import type { LoginPlace } from "../../servers/logins/outgoing.ts";
import type { CommandContext } from "../command/command-context.ts";

/** Whether somebody names a gateway elsewhere, and no server of this one. */
export function isGatewayAddress(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

/**
 * Where a client may be told to connect: the path of every kind of endpoint behind the gateway's own address. People
 * copy these, and mean the gateway.
 */
const endpointPath = new RegExp(
  `(?:/i/[^/]+)?/(?:mcp|sse)(?:/(?:${exposureNames.join("|")})(?:/[^/]+)?)?(?:/messages)?$`,
);

/** The gateway's own address, without a slash at its end. Throws LOGIN_FAILED where others on the way could read. */
export function toGatewayBase(address: string): string {
  const url = new URL(address);
  const base = url.origin + url.pathname.replace(/\/+$/, "").replace(endpointPath, "");
  if (url.protocol !== "http:" || isLoopbackHost(url.hostname)) return base;
  throw new GatewayError("LOGIN_FAILED", `${url.origin} is not encrypted: everybody on the way could read the login`, {
    hint: `Write https://${url.host}${url.pathname === "/" ? "" : url.pathname}.`,
  });
}

/** How this machine reaches a gateway elsewhere: through the proxy that the environment names. */
export function placeOfGateway(mcpUrl: string, env: CommandContext["env"]): LoginPlace {
  const transport = { kind: "http" as const, url: mcpUrl, headers: {} };
  const route = createLoginRoute("the gateway", transport, {
    environment: env,
    loadLate: async (_what, load) => await load(),
  });
  return { serverUrl: mcpUrl, route };
}
