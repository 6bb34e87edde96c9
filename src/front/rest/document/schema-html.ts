import { escapeHtml } from "../../http/escape-html.ts";
import type { JsonSchema } from "./openapi.ts";

const componentPrefix = "#/components/schemas/";

/** A schema as a short type: `string[]`, `"a" | "b"`, or a link when it has a name. */
export function toTypeHtml(schema: JsonSchema): string {
  const { $ref, enum: values, anyOf, items, type } = schema;
  if ($ref !== undefined) {
    const name = escapeHtml($ref.slice(componentPrefix.length));
    return `<a href="#schema-${name}">${name}</a>`;
  }
  if (values !== undefined) return values.map((value) => `<code>${escapeHtml(String(value))}</code>`).join(" or ");
  if (anyOf !== undefined) return anyOf.map(toTypeHtml).join(" or ");
  if (items !== undefined) return `list of ${toTypeHtml(items)}`;
  const { additionalProperties: others } = schema;
  if (type === "object" && typeof others === "object" && Object.keys(others).length > 0)
    return `object of ${toTypeHtml(others)}`;
  const name = type === undefined ? "anything" : [type].flat().join(" or ");
  return `${escapeHtml(name)}${toLimits(schema)}`;
}

function toLimits({ minimum, maximum, maxLength, default: standard }: JsonSchema): string {
  const notes = [
    // A limit that applies to every safe integer of JavaScript is not worth mentioning.
    ...(minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER ? [`at least ${minimum}`] : []),
    ...(maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER ? [`at most ${maximum}`] : []),
    ...(maxLength === undefined ? [] : [`at most ${maxLength} characters`]),
    ...(standard === undefined ? [] : [`default ${JSON.stringify(standard)}`]),
  ];
  return notes.length === 0 ? "" : ` <small>(${escapeHtml(notes.join(", "))})</small>`;
}

interface Property {
  /** `metadata.loadedAt`. Brackets stand for the elements of a list. */
  readonly path: string;
  readonly required: boolean;
  /** As HTML. */
  readonly type: string;
  readonly description: string;
}

/** The members of a schema and of its unnamed parts, each with its path. */
export function toProperties(schema: JsonSchema, prefix = ""): readonly Property[] {
  if (schema.items !== undefined) return toProperties(schema.items, `${prefix}[]`);
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const path = prefix === "" ? name : `${prefix}.${name}`;
    const required = schema.required?.includes(name) === true;
    const own = { path, required, type: toTypeHtml(member), description: member.description ?? "" };
    return [own, ...toProperties(member, path)];
  });
}
