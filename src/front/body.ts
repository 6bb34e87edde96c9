import type { IncomingMessage } from "node:http";
import { GatewayError } from "../shared/gateway-error.ts";

export interface BodyLimits {
  readonly bytes: number;
  readonly timeoutMs: number;
}

/**
 * Calls back once, with the whole body or with the failure. Callbacks, not promises: this runs for every call.
 * BODY_TOO_LARGE before anything is read when Content-Length says so (FAULTS.md 13), BODY_TIMEOUT for a body that trickles in
 * (25), MEDIA_TYPE_UNSUPPORTED for an encoding (19) or a type that a browser may send without asking (21, 33).
 */
export function readBody(request: IncomingMessage, limits: BodyLimits, done: (error: GatewayError | undefined, body: Buffer) => void): void {
  const refused = refuseEarly(request, limits);
  if (refused !== undefined) {
    done(refused, empty);
    return;
  }
  let first: Buffer | undefined;
  let more: Buffer[] | undefined;
  let size = 0;
  let finished = false;
  const timer = setTimeout(() => finish(new GatewayError("BODY_TIMEOUT", `the body did not arrive within ${limits.timeoutMs / 1_000} s`)), limits.timeoutMs);

  function finish(error: GatewayError | undefined): void {
    if (finished) return;
    finished = true;
    clearTimeout(timer);
    if (error !== undefined) {
      request.pause();
      done(error, empty);
      return;
    }
    done(undefined, more === undefined ? (first ?? empty) : Buffer.concat(more, size));
  }

  request.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > limits.bytes) {
      finish(tooLarge(limits));
      return;
    }
    if (first === undefined) first = chunk;
    else (more ??= [first]).push(chunk);
  });
  request.on("end", () => finish(undefined));
  request.on("error", () => finish(new GatewayError("PARSE_ERROR", "the body broke off")));
  request.on("aborted", () => finish(new GatewayError("PARSE_ERROR", "the body broke off")));
}

const empty = Buffer.alloc(0);
/** A missing type is refused too: a page can send a Blob without one, past the browser's own check. */
const jsonType = /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;|$)/i;

function refuseEarly(request: IncomingMessage, limits: BodyLimits): GatewayError | undefined {
  const { headers } = request;
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity") return new GatewayError("MEDIA_TYPE_UNSUPPORTED", `a body with Content-Encoding ${encoding.slice(0, 40)} is not taken`);
  const type = headers["content-type"];
  if (type === undefined || !jsonType.test(type)) return new GatewayError("MEDIA_TYPE_UNSUPPORTED", `a body of type ${type?.slice(0, 80) ?? "unknown"} is not taken`);
  const length = headers["content-length"];
  return length !== undefined && Number(length) > limits.bytes ? tooLarge(limits) : undefined;
}

function tooLarge(limits: BodyLimits): GatewayError {
  return new GatewayError("BODY_TOO_LARGE", `the body has more than ${limits.bytes} bytes (limits.requestBodyBytes)`);
}
