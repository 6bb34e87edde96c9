import type { Readable, Writable } from "node:stream";
import type { Limits } from "../../config/config.ts";
import { GatewayError } from "../../kernel/gateway-error.ts";
import type { Principal } from "../../kernel/principal.ts";
import { createLineSplitter } from "../../servers/upstream/line-splitter.ts";
import { failureText } from "../../wire/mcp/failure-text.ts";
import type { Endpoint } from "./endpoint.ts";
import { createLineWriter } from "./line-channel.ts";
import type { StartupWait } from "./startup-wait.ts";
import { createStdioClient, type StdioClient, type StdioClientDeps } from "./stdio-client.ts";

export interface StdioFrontOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly endpoint: Endpoint;
  readonly principal: Principal;
  readonly parts: StdioClientDeps & { readonly startupWait: StartupWait };
  readonly limits: Limits;
}

/**
 * A client that has closed its end may want what it asked for; most have gone, and end us with a signal after two
 * seconds.
 */
const lingerMs = 5_000;

/**
 * MCP on a pair of streams, both eras (2026-07-28 and 2025-11-25, transports, stdio). Resolves when the client has
 * closed its end and its requests are answered (`printf … | toolyard stdio`), or a few seconds later, or when nobody
 * reads any more.
 */
export async function serveStdio(options: StdioFrontOptions): Promise<void> {
  const { input, output, endpoint, principal, parts, limits } = options;
  const send = createLineWriter(output, () => input.destroy(new Error("the client does not read")));
  const client = createStdioClient(parts, { principal, endpoint, jsonDepth: limits.jsonDepth, send });
  await parts.startupWait(endpoint, principal);
  const tooLong = (): void => {
    const limit = limits.requestBodyBytes;
    send(failureText(new GatewayError("BODY_TOO_LARGE", `a line is longer than ${limit} bytes`)));
  };
  await untilOver(options, client, tooLong);
  client.end();
}

/** Gives the client its lines until one of the streams is over. A line that is too long ends it too, after `tooLong`. */
function untilOver(
  { input, output, limits }: StdioFrontOptions,
  client: StdioClient,
  tooLong: () => void,
): Promise<void> {
  return new Promise((resolve) => {
    const splitter = createLineSplitter(limits.requestBodyBytes, client.receive, () => {
      tooLong();
      resolve();
    });
    let hasEnded = false;
    input.on("data", (chunk: Buffer) => splitter(chunk));
    input.on("end", () => {
      hasEnded = true;
      client.whenAnswered(resolve);
      setTimeout(resolve, lingerMs).unref();
    });
    input.on("error", () => resolve());
    // Destroyed by ourselves (a signal): then there is neither end nor error.
    input.on("close", () => hasEnded || resolve());
    for (const event of ["error", "close"] as const) output.on(event, () => resolve());
  });
}
