import * as z from "zod";

/**
 * Schemas that several groups of routes use. Requests are checked with them, the OpenAPI document describes them, and
 * tests compare responses with them. One with an `id` appears once in the document, under that name.
 */

export const json = z.record(z.string(), z.unknown());
export const nullableText = z.string().nullable();
export const oddities = z
  .array(z.string())
  .describe("What the server does that the protocol does not allow and that was mended, for its author.");

export const problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.string().describe("The failure's code, which never changes; see docs/errors.md."),
    hint: z.string().describe("What to do about it."),
  })
  .catchall(z.unknown())
  .meta({ id: "Problem", description: "RFC 9457 problem details." });

export const tool = z
  .object({ name: z.string(), inputSchema: json })
  .catchall(z.unknown())
  .meta({ id: "Tool", description: "An MCP tool as its server defines it." });

/**
 * A whole number from a query. Anything else, and numbers out of range, are replaced by the nearest sensible value
 * (fault 63).
 */
export function clampedNumber(limits: { readonly least: number; readonly most: number; readonly standard: number }) {
  return z
    .string()
    .optional()
    .transform((text) => clamp(text, limits))
    .meta({
      type: "integer",
      minimum: limits.least,
      maximum: limits.most,
      default: limits.standard,
      description: "A value out of range is replaced by the nearest limit.",
    });
}

function clamp(
  text: string | undefined,
  { least, most, standard }: { least: number; most: number; standard: number },
): number {
  const number = text === undefined || text.trim() === "" ? Number.NaN : Number(text);
  return Number.isNaN(number) ? standard : Math.min(most, Math.max(least, Math.trunc(number)));
}

export const flag = z
  .enum(["true", "false"])
  .optional()
  .transform((text) => text === "true")
  .meta({ type: "string", enum: ["true", "false"] });
export const name = z.string().min(1).max(4_096);
/** Free text, which may be long: the gateway itself reports when it is too long. */
export const words = z.string().max(1_000_000).optional();
export const cursor = z.string().max(1_000).optional();
