/** A failure as the gateway tells it (RFC 9457), or that it could not be reached. */
export class ApiFailure extends Error {
  override readonly name = "ApiFailure";
  readonly code: string;
  readonly hint: string;
  readonly status: number;
  readonly data: Readonly<Record<string, unknown>>;

  constructor({ code, detail, hint, status, ...data }: Problem) {
    super(detail);
    this.code = code;
    this.hint = hint;
    this.status = status;
    this.data = data;
  }
}

export interface Problem {
  readonly code: string;
  readonly detail: string;
  readonly hint: string;
  readonly status: number;
  readonly [key: string]: unknown;
}

/** Whatever was thrown, as a failure that a person can be told. */
export function toFailure(error: unknown): ApiFailure {
  if (error instanceof ApiFailure) return error;
  if (error instanceof TypeError)
    return new ApiFailure({
      code: "UNREACHABLE",
      detail: "The gateway does not answer.",
      hint: "Is it running? `toolyard status` in a terminal tells. This page goes on by itself.",
      status: 0,
    });
  const detail = error instanceof Error ? error.message : String(error);
  return new ApiFailure({ code: "PAGE", detail, hint: "Load the page again.", status: 0 });
}

/** Reads the problem document of an answer that is no success. */
export function problemOf(status: number, body: unknown): ApiFailure {
  const given = typeof body === "object" && body !== null ? (body as Partial<Problem>) : {};
  return new ApiFailure({
    ...given,
    code: given.code ?? "INTERNAL",
    detail: given.detail ?? `The gateway answered with status ${status}.`,
    hint: given.hint ?? "",
    status,
  });
}
