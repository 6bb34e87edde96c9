import type { IncomingMessage } from "node:http";
import { GatewayError } from "../../kernel/gateway-error.ts";
import { settingNow } from "../../kernel/setting-now.ts";

export interface BodyLimits {
  readonly bytes: number;
}

/**
 * Calls back once, with the whole body or with a failure; never when the connection breaks before the end of the
 * body. Uses callbacks instead of promises, because this runs for every call. Failures: BODY_TOO_LARGE, before
 * anything is read when Content-Length says so (fault 13); MEDIA_TYPE_UNSUPPORTED for an encoding (fault 19), or for
 * a type that a browser may send to other sites without asking (faults 21, 33). A body that arrives too slowly is
 * ended by the server's `requestTimeout` (fault 25).
 */
export function readBody(
  request: IncomingMessage,
  limits: BodyLimits,
  done: (error: GatewayError | undefined, body: Buffer) => void,
): void {
  const refused = refuseEarly(request, limits);
  if (refused !== undefined) {
    done(refused, empty);
    return;
  }
  let first: Buffer | undefined;
  let more: Buffer[] | undefined;
  let size = 0;
  let refusedLate = false;
  request.on("data", (chunk: Buffer) => {
    if (refusedLate) return;
    size += chunk.length;
    if (size > limits.bytes) {
      refusedLate = true;
      first = more = undefined;
      done(tooLarge(limits), empty);
    } else if (first === undefined) first = chunk;
    else (more ??= [first]).push(chunk);
  });
  request.on("end", () => {
    if (!refusedLate) done(undefined, more === undefined ? (first ?? empty) : Buffer.concat(more, size));
  });
}

const empty = Buffer.alloc(0);
/** A missing type is refused as well: a page can send a Blob without one, which avoids the browser's own check. */
const jsonType = /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;|$)/i;

function refuseEarly(request: IncomingMessage, limits: BodyLimits): GatewayError | undefined {
  const { headers } = request;
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity")
    return new GatewayError(
      "MEDIA_TYPE_UNSUPPORTED",
      `a body with Content-Encoding ${encoding.slice(0, 40)} is not accepted`,
    );
  const type = headers["content-type"];
  if (type === undefined || !jsonType.test(type))
    return new GatewayError(
      "MEDIA_TYPE_UNSUPPORTED",
      `a body of type ${type?.slice(0, 80) ?? "unknown"} is not accepted`,
    );
  const length = headers["content-length"];
  return length !== undefined && Number(length) > limits.bytes ? tooLarge(limits) : undefined;
}

function tooLarge(limits: BodyLimits): GatewayError {
  return new GatewayError("BODY_TOO_LARGE", `the body has more than ${limits.bytes} bytes (limits.requestBodyBytes)`, {
    hint: `Send less at once, or raise ${settingNow("limits.requestBodyBytes", limits.bytes)}.`,
  });
}
