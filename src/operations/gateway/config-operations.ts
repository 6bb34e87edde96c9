import * as z from "zod";
import { gatewayAdmin } from "../../engine/policy/rights.ts";
import { configurationSchema } from "../../config/settings/config-schema.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { order, requireLoginForPrograms, requireManager } from "../request/manager.ts";
import { answers } from "../responses.ts";
import * as schemas from "../schemas.ts";
import { operation, type Operation } from "../operation.ts";

const tag = "Configuration";

const configText = z.object({ text: z.string().max(10_000_000) }).meta({ id: "ConfigText" });

const configFile = z
  .object({
    file: z.string(),
    text: z.string().describe("JSON with comments; empty when there is no such file yet."),
    etag: z.string(),
  })
  .meta({ id: "ConfigFile" });

const configCheck = z
  .object({
    isUsable: z.boolean().describe("Whether a gateway would serve with it."),
    problems: z.array(
      z.object({
        line: z.int().nullable().describe("From 1."),
        column: z.int().nullable(),
        message: z.string(),
        isWarning: z.boolean().describe("Whether the gateway serves all the same."),
      }),
    ),
    differences: z
      .array(z.object({ path: z.string(), before: z.unknown(), after: z.unknown(), needsRestart: z.boolean() }))
      .describe("What it would change of what is in force, without secrets."),
  })
  .meta({ id: "ConfigCheck" });

const settingList = z
  .object({
    settings: z.array(
      z.object({
        path: z.string(),
        value: z.unknown().describe("Null where there is none. Secrets are hidden."),
        from: z.enum(["file", "given", "default"]).describe("A flag or variable (given) goes before the file."),
        origin: z.string().describe("File, line and column; the flag; or the variable."),
        needsRestart: z.boolean().describe("Whether a change takes effect at the next start only."),
        runsWith: z.unknown().describe("What is in force until then, where the value is another one; null otherwise."),
      }),
    ),
  })
  .meta({ id: "SettingList" });

const configEdits = z
  .object({
    ...configText.shape,
    changes: z
      .array(
        z.object({
          path: z.array(z.string().max(200)).min(1).max(20),
          value: z.unknown().optional().describe("Absent: the value is taken out."),
        }),
      )
      .max(1_000),
  })
  .meta({ id: "ConfigEdits" });

const previousText = z
  .object({ text: schemas.nullableText.describe("Null when there is no copy.") })
  .meta({ id: "PreviousConfig" });

const showConfig = operation({
  route: "GET /api/config",
  right: gatewayAdmin,
  id: "showConfig",
  tag,
  summary: "The configuration file as it is",
  responses: answers(configFile, "The file, with its entity tag."),
  async run(services, request) {
    const found = await requireManager(services, request).read();
    // No ETag header: it would be answered with 304, and a cache would keep what may be secret.
    return found;
  },
});

const checkConfig = operation({
  route: "POST /api/config/check",
  right: gatewayAdmin,
  id: "checkConfig",
  tag,
  summary: "What a text would mean in place of the file",
  body: configText,
  responses: answers(configCheck, "Its problems, and what it would change.", [413, 415]),
  async run(services, request) {
    const management = requireManager(services, request);
    const { text } = request.body;
    return await management.check(text);
  },
});

const saveConfig = operation({
  route: "PUT /api/config",
  right: gatewayAdmin,
  id: "saveConfig",
  tag,
  summary: "Replace the configuration file",
  description: "With `If-Match`: the entity tag of the file that was changed. The gateway applies it within a second.",
  headers: z.object({ "If-Match": z.string() }),
  body: configText,
  responses: answers(configFile, "The file as it is now.", [409, 413, 415]),
  async run(services, request) {
    const management = requireManager(services, request);
    const etag = request.ifMatch;
    if (etag === undefined)
      throw new GatewayError("PARAMS_INVALID", "header.If-Match: is missing", {
        data: { field: "header.If-Match" },
        hint: "Send the entity tag of the file that was changed.",
      });
    const { text } = request.body;
    requireLoginForPrograms(services, request);
    await order(services, request, "config.save", "");
    return await management.save(text, etag);
  },
});

const showConfigSchema = operation({
  route: "GET /api/config/schema",
  right: gatewayAdmin,
  id: "showConfigSchema",
  tag,
  summary: "The JSON Schema of the configuration file",
  responses: answers(schemas.json, "The schema."),
  run: () => configurationSchema(),
});

const listSettings = operation({
  route: "GET /api/config/settings",
  right: gatewayAdmin,
  id: "listSettings",
  tag,
  summary: "Every setting with its value in force, and where that comes from",
  responses: answers(settingList, "All of them."),
  async run(services, request) {
    const settings = await requireManager(services, request).settings();
    return { settings };
  },
});

const editText = operation({
  route: "POST /api/config/edit",
  right: gatewayAdmin,
  id: "editConfigText",
  tag,
  summary: "A text with some values set or taken out; comments and layout stay, and nothing is saved",
  body: configEdits,
  responses: answers(configText, "The text after that.", [413, 415]),
  run(services, request) {
    const management = requireManager(services, request);
    const { text, changes } = request.body;
    return { text: management.edit(text, changes) };
  },
});

const showPrevious = operation({
  route: "GET /api/config/previous",
  right: gatewayAdmin,
  id: "showPreviousConfig",
  tag,
  summary: "The configuration file as it was before its last change",
  responses: answers(previousText, "The copy that the change left."),
  async run(services, request) {
    const text = (await requireManager(services, request).previous()) ?? null;
    return { text };
  },
});

/** The configuration file, for those who run the gateway. */
export const configOperations: readonly Operation[] = [
  showConfig,
  checkConfig,
  saveConfig,
  showConfigSchema,
  listSettings,
  editText,
  showPrevious,
];
