import { entryRows, listedTools, meaninglessFields } from "../entry/server-fields.ts";
import type { JsonSchema, Member, Row, Rows, RowText } from "../rows/setting-row.ts";
import { foreignNamespaceRows, toolyardRows } from "./settings-table.ts";

/** JSON Schema (draft 7) of a configuration file, for editors, from the tables that also check it. */
export function configurationSchema(): JsonSchema {
  const servers = { type: "object", additionalProperties: { $ref: "#/definitions/server" } };
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Configuration of Toolyard",
    type: "object",
    properties: {
      $schema: { type: "string", description: "This schema, for editors." },
      mcpServers: { ...servers, description: "The servers behind the gateway, by name." },
      servers: { ...servers, description: "The same, as VS Code writes it." },
      inputs: {
        type: "array",
        description: "What VS Code asks its user for; a variable TOOLYARD_INPUT_ID answers here.",
      },
      toolyard: { ...objectOf(toolyardRows), description: "Settings of the gateway." },
      ...propertiesOf(foreignNamespaceRows),
    },
    definitions: { server: { ...entrySchema(), description: "One server." } },
  };
}

function entrySchema(): JsonSchema {
  const properties = propertiesOf(entryRows);
  const foreign = meaninglessFields.map((name) => [
    name,
    { description: "Another client's own field: taken without effect." },
  ]);
  return {
    ...objectOf(entryRows),
    properties: {
      ...properties,
      tools: { anyOf: [properties["tools"], rowSchema("tools", listedTools)] },
      ...(Object.fromEntries(foreign) as object),
    },
  };
}

function objectOf(rows: Rows): JsonSchema {
  const required = Object.entries(rows).flatMap(([name, member]) =>
    member.kind === "row" && member.isRequired ? [name] : [],
  );
  return {
    type: "object",
    properties: propertiesOf(rows),
    additionalProperties: false,
    ...(required.length === 0 ? {} : { required }),
  };
}

function propertiesOf(rows: Rows): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(Object.entries(rows).map(([name, member]) => [name, memberSchema(name, member)]));
}

function memberSchema(name: string, member: Member): JsonSchema {
  if (member.kind === "row") return rowSchema(name, member);
  const description = withoutMarkdown(sentence(member.about));
  if (member.kind === "keyed") return { type: "object", additionalProperties: objectOf(member.rows), description };
  return { ...objectOf(member.rows), ...member.rule?.json, description };
}

function rowSchema(name: string, row: Row<unknown, unknown>): JsonSchema {
  const fallback = `Default: ${fallbackWords(name, row)}.`;
  const known = row.fallback !== undefined && row.fallbackText === undefined ? { default: row.fallback } : {};
  return {
    ...row.json,
    description: withoutMarkdown([...rowSentences(row), fallback].join(" ")),
    ...known,
    examples: [row.example],
  };
}

/** `180000` is `180,000 (3 min)`, where the name says that it is a time. */
function numberWords(name: string, value: number): string {
  const plain = value.toLocaleString("en-US", { useGrouping: "min2" });
  const size = name.endsWith("Bytes") ? sizeWords(value) : name.endsWith("Ms") ? timeWords(value) : undefined;
  return size === undefined ? plain : `${plain} (${size})`;
}

function sizeWords(value: number): string | undefined {
  if (value >= 1024 ** 2 && value % 1024 ** 2 === 0) return `${value / 1024 ** 2} MiB`;
  return value >= 1024 && value % 1024 === 0 ? `${value / 1024} KiB` : undefined;
}

function timeWords(value: number): string | undefined {
  const units = [
    [3_600_000, "h"],
    [60_000, "min"],
    [1_000, "s"],
  ] as const;
  const unit = value === 0 ? undefined : units.find(([length]) => value % length === 0);
  return unit && `${value / unit[0]} ${unit[1]}`;
}

/** The default of a row, in words. */
export function fallbackWords(name: string, { fallback, fallbackText }: Row<unknown, unknown>): string {
  if (fallbackText !== undefined) return fallbackText;
  if (fallback === undefined) return "none";
  return typeof fallback === "number" ? numberWords(name, fallback) : `\`${JSON.stringify(fallback)}\``;
}

/** What a row decides, why its default is what it is, and when a change of it counts. */
export function rowSentences({ about, reason, isReadAtStart }: RowText): readonly string[] {
  const phrases = reason === undefined ? [about] : [about, reason];
  return [...phrases.map(sentence), ...(isReadAtStart === true ? ["A change takes effect at the next start."] : [])];
}

/** A phrase as a sentence. */
export function sentence(phrase: string): string {
  const text = `${phrase[0]?.toUpperCase() ?? ""}${phrase.slice(1)}`;
  return text.endsWith(".") ? text : `${text}.`;
}

/** Words of a page for where they are shown as they are. */
function withoutMarkdown(text: string): string {
  return text.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1").replaceAll("`", "");
}
