import * as v from "valibot";
import { toolEffects, type ToolEffect } from "../../kernel/call/tool-effects.ts";
import { list, other, type Row } from "./setting-row.ts";
import { effectListSchema, pinJson, pinSchema, pinType, type PinChoice } from "./tool-rows.ts";

/** Names are a segment of a path. */
const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

export const profileName: v.GenericSchema<string> = v.pipe(
  v.string(),
  v.regex(namePattern, "expected 1 to 63 letters, digits, `.`, `_` or `-`, beginning with a letter or digit"),
);

/** What `/mcp/p/NAME` may show. */
export const profileExposures = ["meta", "flat"] as const;

/** `toolyard.profiles.NAME`, without its tokens. */
export const profileRows = {
  servers: list({
    fallback: undefined,
    fallbackText: "those that `tools` names; all where it names none",
    about: "the servers that it has, with `*` as a wildcard",
    example: ["github", "files"],
  }),
  tools: list({
    fallback: undefined,
    fallbackText: "all of these servers",
    about: "the tools that it has, as `server:tool`, or `tool` for every server: the server's own names, with `*`",
    example: ["github:list_*", "read_*"],
  }),
  effects: other<readonly ToolEffect[], undefined>({
    fallback: undefined,
    fallbackText: "any",
    schema: effectListSchema,
    json: { type: "array", items: { type: "string", enum: toolEffects } },
    type: `list of ${toolEffects.map((name) => `\`${name}\``).join(", ")}`,
    about: "what its tools may do; a call whose arguments do something else is refused",
    example: ["read"],
  }),
  exposure: other<(typeof profileExposures)[number], undefined>({
    fallback: undefined,
    fallbackText: "that of `/mcp`",
    schema: v.picklist(profileExposures, `expected one of ${profileExposures.join(", ")}`),
    json: { enum: profileExposures },
    type: profileExposures.map((name) => `\`${name}\``).join(" or "),
    about: "what its path shows",
    example: "flat",
  }),
  clients: list({
    fallback: undefined,
    fallbackText: "none",
    about:
      "clients that have it at `/mcp` by the name that they give themselves, with `*` at its end; it protects nothing",
    example: ["claude-code"],
  }),
  pin: other<PinChoice, undefined>({
    fallback: undefined,
    fallbackText: "as everywhere",
    schema: pinSchema,
    json: pinJson,
    type: pinType,
    about: "tools that are in its list beside the four, whatever the person chose elsewhere",
    example: ["github:list_issues"],
  }),
} satisfies Record<string, Row<unknown, unknown>>;
