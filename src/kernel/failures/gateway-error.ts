import { failures, type FailureCode } from "./failures.ts";

/**
 * A failure of the gateway: a row of the table of failures, with a message that says what happened to what. Never
 * contains a secret.
 */
export class GatewayError extends Error {
  override readonly name = "GatewayError";
  readonly code: FailureCode;
  /** Facts beside the message: closest paths, supported versions, limits. JSON values only. */
  readonly data: { readonly [key: string]: unknown } | undefined;

  constructor(
    code: FailureCode,
    message: string,
    options: { data?: Record<string, unknown>; cause?: unknown; hint?: string } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.data = options.data;
    this.#hint = options.hint;
  }

  readonly #hint: string | undefined;

  /** What to do about it: the row's hint, unless a more exact one was given when the error was made. */
  get hint(): string {
    return this.#hint ?? failures[this.code].hint;
  }

  get row(): (typeof failures)[FailureCode] {
    return failures[this.code];
  }
}

/**
 * The failure with `rewrite` applied to all of its texts, for texts that may quote a secret. Returns the same object
 * when nothing changes.
 */
export function rewriteFailure(failure: GatewayError, rewrite: (text: string) => string): GatewayError {
  const { code, message, hint, data, cause } = failure;
  let isChanged = false;
  const rewritten = (text: string): string => {
    const result = rewrite(text);
    isChanged ||= result !== text;
    return result;
  };
  const inData = (_key: string, value: unknown) => (typeof value === "string" ? rewritten(value) : value);
  const copy = new GatewayError(code, rewritten(message), {
    hint: rewritten(hint),
    ...(data === undefined ? {} : { data: JSON.parse(JSON.stringify(data), inData) as Record<string, unknown> }),
    cause,
  });
  return isChanged ? copy : failure;
}

/** A failure on its way between threads and processes. */
export interface SentFailure {
  readonly code: FailureCode;
  readonly message: string;
  readonly hint: string;
  readonly data?: Record<string, unknown>;
}

export function toSentFailure({ code, message, hint, data }: GatewayError): SentFailure {
  return { code, message, hint, ...(data === undefined ? {} : { data: { ...data } }) };
}

export function fromSentFailure({ code, message, ...more }: SentFailure): GatewayError {
  return new GatewayError(code, message, more);
}

/**
 * Turns anything thrown into a GatewayError: a GatewayError is returned as it is, what the system says of a full disk
 * becomes STORE_FULL, and anything else INTERNAL, with the original as its cause for the log.
 */
export function toGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  if (isOutOfSpace(thrown))
    return new GatewayError("STORE_FULL", `there is no room on the disk: ${message}`, { cause: thrown });
  return new GatewayError("INTERNAL", `internal error: ${message}`, { cause: thrown });
}

/** Linux says the same where there are too many watched files, which is no matter of room. */
function isOutOfSpace(thrown: unknown): boolean {
  const { code, syscall } = thrown instanceof Error ? (thrown as NodeJS.ErrnoException) : {};
  return (code === "ENOSPC" || code === "EDQUOT") && syscall !== "watch";
}
