import type { IncomingMessage } from "node:http";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { BodyRoom } from "./guards/body-room.ts";
import { settingNow } from "../../kernel/text/number-text.ts";

export interface BodyLimits {
  readonly bytes: number;
  /** What all bodies on their way may have together. */
  readonly room: BodyRoom;
}

/** Given because it is unknown when other bodies will have come. */
const retryAfterS = 1;

/**
 * Calls back once, with the whole body or with a failure; never when the connection breaks before the end of the
 * body. Uses callbacks instead of promises, because this runs for every call. Failures: BODY_TOO_LARGE, before
 * anything is read when Content-Length says so (fault 13); MEDIA_TYPE_UNSUPPORTED for an encoding (fault 19), or for
 * a type that a browser may send to other sites without asking (faults 21, 33). A body that arrives too slowly is
 * ended by the server's `requestTimeout` (fault 25). RATE_LIMITED when `who`, or all together, have too much on the
 * way.
 */
export function readBody(
  request: IncomingMessage,
  limits: BodyLimits,
  who: string,
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
  let taken = 0;
  const giveBack = (): void => {
    if (taken > 0) limits.room.give(who, taken);
    taken = 0;
  };
  const refuseLate = (error: GatewayError): void => {
    refusedLate = true;
    first = more = undefined;
    giveBack();
    done(error, empty);
  };
  request.on("data", (chunk: Buffer) => {
    if (refusedLate) return;
    size += chunk.length;
    if (size > limits.bytes) refuseLate(tooLarge(limits));
    else if (first === undefined) first = chunk;
    else if (!limits.room.take(who, size - taken)) refuseLate(tooMuch());
    else {
      if (taken === 0) request.once("close", giveBack);
      taken = size;
      (more ??= [first]).push(chunk);
    }
  });
  request.on("end", () => {
    giveBack();
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

/**
 * Counts a whole body that waits to be worked on. Returns what ends that, to be called once. Throws RATE_LIMITED when
 * `who`, or all together, have too much on the way.
 */
export function holdBody(room: BodyRoom, who: string, { length }: Buffer): () => void {
  if (!room.take(who, length)) throw tooMuch();
  return () => room.give(who, length);
}

function tooMuch(): GatewayError {
  return new GatewayError("RATE_LIMITED", "too many large bodies are on their way at once", {
    data: { retry_after_s: retryAfterS },
    hint: "Wait as long as Retry-After says, and send fewer large bodies at a time.",
  });
}

function tooLarge(limits: BodyLimits): GatewayError {
  return new GatewayError("BODY_TOO_LARGE", `the body has more than ${limits.bytes} bytes (limits.requestBodyBytes)`, {
    hint: `Send less at once, or raise ${settingNow("limits.requestBodyBytes", limits.bytes)}.`,
  });
}
