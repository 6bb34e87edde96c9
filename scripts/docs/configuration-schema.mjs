// docs/toolyard.schema.json from the tables of settings and of the fields of a server's entry.
import { fallbackWords, rowSentences, sentence, withoutMarkdown } from "./setting-words.mjs";

/** @type {import("./configuration-schema.d.mts").configurationSchema} */
export function configurationSchema({ toolyardRows, foreignNamespaceRows }, fields) {
  const { entryRows, listedTools, meaninglessFields } = fields;
  const entry = objectOf({ ...entryRows });
  entry.properties.tools = { anyOf: [entry.properties.tools, rowSchema("tools", listedTools)] };
  for (const name of meaninglessFields)
    entry.properties[name] = { description: "Another client's own field: taken without effect." };
  const servers = { type: "object", additionalProperties: { $ref: "#/definitions/server" } };
  const beside = objectOf(foreignNamespaceRows).properties;
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
      ...beside,
    },
    definitions: { server: { ...entry, description: "One server." } },
  };
}

function objectOf(rows) {
  const members = Object.entries(rows);
  const required = members.flatMap(([name, member]) => (member.isRequired === true ? [name] : []));
  return {
    type: "object",
    properties: Object.fromEntries(members.map(([name, member]) => [name, memberSchema(name, member)])),
    additionalProperties: false,
    ...(required.length === 0 ? {} : { required }),
  };
}

function memberSchema(name, member) {
  if (member.kind === "row") return rowSchema(name, member);
  const members = { ...objectOf(member.rows), ...member.rule?.json };
  const description = withoutMarkdown(sentence(member.about));
  return member.kind === "group"
    ? { ...members, description }
    : { type: "object", additionalProperties: members, description };
}

function rowSchema(name, row) {
  const fallback = `Default: ${fallbackWords(name, row)}.`;
  const known = row.fallback !== undefined && row.fallbackText === undefined ? { default: row.fallback } : {};
  return {
    ...row.json,
    description: withoutMarkdown([...rowSentences(row), fallback].join(" ")),
    ...known,
    examples: [row.example],
  };
}
