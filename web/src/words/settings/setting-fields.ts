/** One setting, as the configuration's JSON Schema describes it. */
export interface SettingField {
  /** `toolyard.limits.sessions` */
  readonly path: string;
  readonly name: string;
  readonly about: string;
  /** `lines` is a list with one text in each line, `pairs` an object of texts with `NAME=value` in each. */
  readonly kind: "number" | "boolean" | "choice" | "text" | "list" | "lines" | "pairs" | "other";
  readonly choices: readonly string[];
  readonly min: number | undefined;
  readonly max: number | undefined;
}

export interface SettingGroup {
  /** `limits`; empty for settings in no group. */
  readonly name: string;
  readonly about: string;
  readonly fields: readonly SettingField[];
}

interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly additionalProperties?: unknown;
  readonly definitions?: Readonly<Record<string, Schema>>;
}

/** The settings of the gateway by group, in the order of the schema. Those in no group come first. */
export function toSettingGroups(schema: unknown): readonly SettingGroup[] {
  const settings = (schema as Schema).properties?.["toolyard"]?.properties ?? {};
  const single: SettingField[] = [];
  const groups: SettingGroup[] = [];
  for (const [name, member] of Object.entries(settings)) {
    if (isGroup(member)) groups.push({ name, about: member.description ?? "", fields: fieldsOf(member, name, []) });
    else single.push(toField(member, [name]));
  }
  return [{ name: "", about: "", fields: single }, ...groups];
}

function isGroup({ properties }: Schema): boolean {
  return properties !== undefined && Object.keys(properties).length > 0;
}

/** Groups within a group are part of it: their fields have longer names. */
function fieldsOf({ properties = {} }: Schema, group: string, above: readonly string[]): readonly SettingField[] {
  return Object.entries(properties).flatMap(([name, member]) =>
    isGroup(member) ? fieldsOf(member, group, [...above, name]) : [toField(member, [group, ...above, name])],
  );
}

function toField(schema: Schema, steps: readonly string[]): SettingField {
  const choices = schema.enum ?? schema.anyOf?.find((one) => one.enum !== undefined)?.enum ?? [];
  return {
    path: ["toolyard", ...steps].join("."),
    name: steps.length > 1 ? steps.slice(1).join(".") : (steps[0] ?? ""),
    about: schema.description ?? "",
    kind: kindOf(schema, choices),
    choices,
    min: schema.minimum,
    max: schema.maximum,
  };
}

/** The fields of a server's entry, in the order of the schema, without those that another client alone reads. */
export function toEntryFields(schema: unknown): readonly SettingField[] {
  const members = (schema as Schema).definitions?.["server"]?.properties ?? {};
  return Object.entries(members)
    .filter(([, { description = "" }]) => !description.startsWith("Another client's own field"))
    .map(([name, member]) => ({ ...toField(member, [name]), path: name, kind: entryKindOf(member) }));
}

/** Arguments may have commas in them. */
function entryKindOf(schema: Schema): SettingField["kind"] {
  if (schema.type === "array") return "lines";
  if (schema.type === "object") return schema.properties === undefined ? "pairs" : "other";
  // A command may be a list of words as well; a text is the usual form.
  const types = schema.anyOf?.map(({ type }) => type) ?? [];
  if (types.includes("string") && types.every((type) => type === "string" || type === "array")) return "text";
  const choices = schema.anyOf?.find((one) => one.enum !== undefined)?.enum ?? schema.enum ?? [];
  return kindOf(schema, choices);
}

function kindOf(schema: Schema, choices: readonly string[]): SettingField["kind"] {
  if (choices.length > 0) return "choice";
  const types = [schema.type, ...(schema.anyOf ?? []).map(({ type }) => type)].filter((type) => type !== undefined);
  if (types.includes("integer") || types.includes("number")) return "number";
  if (types.includes("boolean")) return "boolean";
  if (schema.type === "array")
    return schema.items?.type === "string" || schema.items?.anyOf !== undefined ? "list" : "other";
  // A text that has to look like an address is one of several texts: that, or a variable.
  return types.length > 0 && types.every((type) => type === "string") ? "text" : "other";
}
