import * as v from "valibot";
import type { Facts, Group, Member, Resolved, Rows, Written } from "./setting-row.ts";

/** The schema that checks an object with these rows. */
export function schemaOf<Members extends Rows>(rows: Members): v.GenericSchema<unknown, Written<Members>> {
  const entries = Object.entries(rows).map(([name, member]) => {
    const schema = memberSchema(member);
    return [name, member.kind === "row" && member.isRequired ? schema : v.optional(schema)] as const;
  });
  return v.object(Object.fromEntries(entries)) as never;
}

function memberSchema(member: Member): v.GenericSchema {
  switch (member.kind) {
    case "row":
      return member.schema as v.GenericSchema;
    case "group":
      return groupSchema(member);
    case "keyed":
      return v.record(member.keySchema, schemaOf(member.rows) as v.GenericSchema) as v.GenericSchema;
  }
}

function groupSchema({ rows, rule }: Group<Rows>): v.GenericSchema {
  const schema = schemaOf(rows) as v.GenericSchema;
  if (rule === undefined) return schema;
  const holds = (value: unknown): boolean => rule.holds(value as Readonly<Record<string, unknown>>);
  return v.pipe(schema, v.check(holds, rule.message)) as v.GenericSchema;
}

/** The value of each setting: from the first layer that has it, otherwise its default. */
export function resolveRows<Members extends Rows>(
  rows: Members,
  layers: readonly (Written<NoInfer<Members>> | undefined)[],
  facts: Facts,
): Resolved<Members> {
  const pairs = Object.entries(rows).map(([name, member]) => {
    const written = layers.map((layer) => (layer as Readonly<Record<string, unknown>> | undefined)?.[name]);
    return [name, resolveMember(member, written, facts)];
  });
  return Object.fromEntries(pairs) as never;
}

function resolveMember(member: Member, layers: readonly unknown[], facts: Facts): unknown {
  const first = layers.find((value) => value !== undefined);
  switch (member.kind) {
    case "row":
      return first ?? (member.compute === undefined ? member.fallback : member.compute(facts));
    case "group":
      if (member.isOptional && first === undefined) return undefined;
      return resolveRows(member.rows, layers as readonly (object | undefined)[], facts);
    case "keyed":
      return first ?? {};
  }
}

/** A row and its path, in the order of the table. Leaves out members of objects whose names the user chooses. */
export interface PlacedRow {
  readonly path: readonly string[];
  readonly row: Extract<Member, { readonly kind: "row" }>;
}

/** All rows below `rows`, each with its path. `above` is the path of `rows` themselves. */
export function placedRows(rows: Rows, above: readonly string[] = []): PlacedRow[] {
  return Object.entries(rows).flatMap(([name, member]) => {
    const path = [...above, name];
    if (member.kind === "row") return [{ path, row: member }];
    return member.kind === "group" ? placedRows(member.rows, path) : [];
  });
}
