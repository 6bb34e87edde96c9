import type * as z from "zod";
import { GatewayError } from "../../kernel/gateway-error.ts";

/** Checks one part of a request. Throws PARAMS_INVALID with the first field that does not fit. */
export function checkPart<S extends z.ZodObject>(
  schema: S,
  part: "params" | "querystring" | "body",
  given: object,
): z.output<S> {
  const { success, data, error } = schema.safeParse(given);
  if (success) return data;
  const [first] = error.issues;
  const field = [part, ...(first?.path ?? [])].join(".");
  throw new GatewayError("PARAMS_INVALID", `${field}: ${first?.message ?? "is not valid"}`, {
    data: { field },
    hint: "Compare the request with GET /openapi.json.",
  });
}
