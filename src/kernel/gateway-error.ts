import { failures, type FailureCode } from "./failures.ts";

/** A failure of ours: a row of the table, and a sentence that says what happened to what. Never holds a secret. */
export class GatewayError extends Error {
  override readonly name = "GatewayError";
  readonly code: FailureCode;
  /** Facts for the receiver, beside the sentence: closest paths, supported versions, limits. JSON values only. */
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

  /** The row's hint, or a more exact one where the thrower knows more. */
  get hint(): string {
    return this.#hint ?? failures[this.code].hint;
  }

  get row(): (typeof failures)[FailureCode] {
    return failures[this.code];
  }
}

/** The failure with its texts rewritten, for what may quote a secret; the same object where that changes nothing. */
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

/** What was thrown, as a failure: ours as it is, anything else as INTERNAL with the cause kept for the log. */
export function toGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new GatewayError("INTERNAL", `internal error: ${message}`, { cause: thrown });
}
