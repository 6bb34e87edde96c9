// Schemas that cost a validator its time, its memory, its stack or its network. Each is JSON text.

const object = (properties, more = {}) => JSON.stringify({ type: "object", properties, ...more });

/** @type {Record<string, (options: Record<string, any>) => string>} */
export const bombs = {
  "ref-cycle": () =>
    object({ node: { $ref: "#/$defs/a" } }, { $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } }),
  "remote-ref": (options) => object({ remote: { $ref: options["remote-ref"] }, local: { $ref: "file:///etc/passwd" } }),
  // The same $id as every other server that is asked for it, and another meaning.
  "id-clash": (options) =>
    object(
      { [`only_${options["server-name"]}`]: { type: "string" } },
      {
        $id: "https://example.com/shared.json",
        required: [`only_${options["server-name"]}`],
        additionalProperties: false,
      },
    ),
  "anyof-20000": () => {
    const branch = (index) => ({
      required: [`p${index}`],
      properties: { [`p${index}`]: { const: index } },
    });
    return object({}, { anyOf: Array.from({ length: 20_000 }, (_, index) => branch(index)) });
  },
  "deep-10000": () => {
    const level = '{"type":"object","properties":{"a":';
    return `${level.repeat(10_000)}{"type":"string"}${"}}".repeat(10_000)}`;
  },
  redos: () => object({ text: { type: "string", pattern: "^(([a-z])+.)+[A-Z]([a-z])+$|^(a+)+$" } }),
  "unknown-dialect": () => object({ text: { type: "string" } }, { $schema: "https://example.com/dialect/1" }),
};
