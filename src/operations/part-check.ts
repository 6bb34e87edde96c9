import type * as z from "zod";
import { GatewayError } from "../kernel/failures/gateway-error.ts";

/** Checks one part of a request. Throws PARAMS_INVALID with the first field that does not fit. */
export function checkPart<S extends z.ZodObject>(
  schema: S,
  part: "params" | "querystring" | "body",
  given: object,
): z.output<S> {
  if (hasProto(given))
    throw new GatewayError("PARAMS_INVALID", `${part}: nothing can be called __proto__`, { data: { field: part } });
  const { success, data, error } = schema.safeParse(given);
  if (success) return data;
  const [first] = error.issues;
  const field = [part, ...(first?.path ?? [])].join(".");
  throw new GatewayError("PARAMS_INVALID", `${field}: ${first?.message ?? "is not valid"}`, {
    data: { field },
    hint: "Compare the request with GET /openapi.json.",
  });
}

/** Such a member would be left out without a word, and its sender would be told that it was taken. */
function hasProto(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.hasOwn(value, "__proto__") || Object.values(value).some(hasProto);
}
