import { settingNow } from "../../../kernel/text/number-text.ts";
import type { Readable, Writable } from "node:stream";
import type { Limits } from "../../../config/config.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { Principal } from "../../../kernel/principal.ts";
import { createLineSplitter } from "../../../servers/upstream/messages/line-splitter.ts";
import { failureText } from "../../../wire/mcp/error-object.ts";
import type { Endpoint, StartupWait } from "../endpoint/endpoint.ts";
import { createLineWriter } from "./line-channel.ts";
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
 * How long a client that has closed its end still gets answers. Most clients that do so have finished, and stop the
 * gateway with a signal after two seconds.
 */
const lingerMs = 5_000;

/**
 * MCP on a pair of streams, both eras (2026-07-28 and 2025-11-25, transports, stdio). Resolves when the client has
 * closed its end and its requests are answered (`printf … | toolyard stdio`), or a few seconds later, or when its
 * output has no reader any more.
 */
export async function serveStdio(options: StdioFrontOptions): Promise<void> {
  const { input, output, endpoint, principal, parts, limits } = options;
  const send = createLineWriter(output, () => input.destroy(new Error("the client does not read")));
  const client = createStdioClient(parts, { principal, endpoint, jsonDepth: limits.jsonDepth, send });
  await parts.startupWait(endpoint, principal);
  const tooLong = (): void => {
    const limit = limits.requestBodyBytes;
    send(
      failureText(
        new GatewayError("BODY_TOO_LARGE", `a line is longer than ${limit} bytes`, {
          hint: `Send less at once, or raise ${settingNow("limits.requestBodyBytes", limit)}.`,
        }),
      ),
    );
  };
  await untilOver(options, client, tooLong);
  client.end();
}

/**
 * Passes each line on, and resolves when no more will come, the output has no reader any more, or a line was too long.
 */
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
    // The gateway itself may have destroyed the stream, on a signal: then neither `end` nor `error` comes.
    input.on("close", () => hasEnded || resolve());
    for (const event of ["error", "close"] as const) output.on(event, () => resolve());
  });
}
