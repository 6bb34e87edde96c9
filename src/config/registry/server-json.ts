import * as v from "valibot";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";

/** A value that a server needs, as `server.json` of the MCP registry describes it. */
const inputFields = {
  description: v.optional(v.string()),
  isRequired: v.optional(v.boolean(), false),
  isSecret: v.optional(v.boolean(), false),
  default: v.optional(v.string()),
  placeholder: v.optional(v.string()),
  /** Fixed; may contain `{name}` of one of `variables`. */
  value: v.optional(v.string()),
  choices: v.optional(v.array(v.string())),
  format: v.optional(v.string()),
};
const inputWithVariables = {
  ...inputFields,
  variables: v.optional(v.record(v.string(), v.object(inputFields))),
};
const keyValue = v.object({ ...inputWithVariables, name: v.string() });
const argument = v.variant("type", [
  v.object({
    ...inputWithVariables,
    type: v.literal("positional"),
    valueHint: v.optional(v.string()),
    isRepeated: v.optional(v.boolean(), false),
  }),
  v.object({
    ...inputWithVariables,
    type: v.literal("named"),
    name: v.string(),
    isRepeated: v.optional(v.boolean(), false),
  }),
]);
const serverPackage = v.object({
  registryType: v.string(),
  identifier: v.string(),
  version: v.optional(v.string()),
  registryBaseUrl: v.optional(v.string()),
  runtimeHint: v.optional(v.string()),
  runtimeArguments: v.optional(v.array(argument), []),
  packageArguments: v.optional(v.array(argument), []),
  environmentVariables: v.optional(v.array(keyValue), []),
  transport: v.optional(v.object({ type: v.string() }), { type: "stdio" }),
});
const remote = v.object({
  type: v.string(),
  url: v.string(),
  headers: v.optional(v.array(keyValue), []),
  variables: v.optional(v.record(v.string(), v.object(inputFields))),
});
const serverJson = v.object({
  name: v.string(),
  version: v.optional(v.string()),
  description: v.optional(v.string()),
  packages: v.optional(v.array(serverPackage), []),
  remotes: v.optional(v.array(remote), []),
});

/** `server.json` of the MCP registry (schema 2025-12-11), as far as an entry is made of it. */
export type ServerJson = v.InferOutput<typeof serverJson>;
export type ServerPackage = v.InferOutput<typeof serverPackage>;
export type ServerRemote = v.InferOutput<typeof remote>;
export type ServerArgument = v.InferOutput<typeof argument>;
export type ServerInput = v.InferOutput<v.ObjectSchema<typeof inputWithVariables, undefined>>;

/** Throws REGISTRY_FAILED, which names the first thing that is not as the schema says. */
export function parseServerJson(value: unknown): ServerJson {
  const parsed = v.safeParse(serverJson, value, { abortEarly: true });
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  const place = issue.path?.map(({ key }) => String(key)).join(".") ?? "";
  throw new GatewayError(
    "REGISTRY_FAILED",
    `this is no server.json: ${place === "" ? "" : `${place}: `}${issue.message}`,
    {
      hint: "Report it to the server's author, or add the server by its command or URL.",
    },
  );
}
