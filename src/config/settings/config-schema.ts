import { entryRows, listedTools, meaninglessFields } from "../entry/server-fields.ts";
import type { JsonSchema, Member, Row, Rows } from "../rows/setting-row.ts";
import { fallbackWords, rowSentences, sentence, withoutMarkdown } from "./setting-words.ts";
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
