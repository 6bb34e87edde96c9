import { longestMs } from "../kernel/limits.ts";
import * as v from "valibot";
import { filledText, numberOf, text } from "./check.ts";
import { profiledTools } from "./client-profiles.ts";
import {
  callLimits,
  instanceNumbers,
  limitNumbers,
  parallelStartsRange,
  serverTimes,
  settingNumbers,
  type NumberRow,
} from "./defaults.ts";
import { overridesSchema } from "./server-entry.ts";
import { addressRange, hostName, publicAddress, webOrigin } from "./web-names.ts";
import { exposureNames } from "./exposures.ts";

export const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

const flag = v.optional(v.boolean());
const texts = v.optional(v.array(filledText));

export const tokenHash = v.pipe(
  v.string(),
  v.regex(
    /^sha256:[0-9a-fA-F]{64}$/,
    "expected `sha256:` and 64 hexadecimal digits, as `toolyard token new` prints them",
  ),
  v.transform((written) => written.toLowerCase()),
);

const webUrl = v.pipe(
  v.string(),
  v.check(
    (url) => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol),
    "expected an absolute http:// or https:// URL",
  ),
);

/** An optional number per row of a table of defaults. */
function numbersOf<Rows extends Readonly<Record<string, NumberRow>>>(rows: Rows) {
  const entries = Object.entries(rows).map(([name, row]) => [name, v.optional(numberOf(row))]);
  return Object.fromEntries(entries) as {
    readonly [Name in keyof Rows]: v.OptionalSchema<v.GenericSchema<number>, undefined>;
  };
}

const overridesByServer = v.optional(v.record(v.string(), overridesSchema));

/** Another spelling of `namespaces`, accepted in `toolyard` and beside it; `cacheTimeout` in whole seconds. */
export const namespaceSupportSchema = v.object({
  enabled: flag,
  legacySupport: flag,
  deprecationWarnings: flag,
  autoMigration: flag,
});

export const performanceSchema = v.object({
  maxNamespaces: v.optional(numberOf(settingNumbers.maxNamespaces)),
  cacheTimeout: v.optional(numberOf({ min: 1, max: Math.floor(longestMs / 1000) })),
  preloadNamespaces: texts,
});

/** Whatever a client looks for in a tool's `_meta`: its keys and values are the client's business. */
const toolMeta = v.optional(v.record(v.string(), v.unknown()));

/** A row of the table of client profiles, changed or added. */
const profileSchema = v.object({
  toolMeta: v.optional(
    v.object(
      Object.fromEntries(profiledTools.map((name) => [name, toolMeta])) as {
        readonly [Name in (typeof profiledTools)[number]]: typeof toolMeta;
      },
    ),
  ),
  ownResourceTools: flag,
});

/** The `toolyard` object of the file, all of it optional. */
export const settingsSchema = v.object({
  host: v.optional(filledText),
  port: v.optional(numberOf(settingNumbers.port)),
  allowedHosts: v.optional(v.array(hostName)),
  allowedOrigins: v.optional(v.array(webOrigin)),
  publicUrl: v.optional(publicAddress),
  trustedProxies: v.optional(v.array(addressRange)),
  exposure: v.optional(v.picklist(exposureNames)),
  transparent: v.optional(filledText),
  dataDir: v.optional(filledText),
  logLevel: v.optional(v.picklist(logLevels)),
  debugRoute: flag,
  auth: v.optional(
    v.object({
      tokenHash: v.optional(tokenHash),
      tokenHashes: v.optional(v.array(tokenHash)),
      insecure: flag,
      allowTokenInUrl: flag,
    }),
  ),
  search: v.optional(
    v.object({
      engine: v.optional(v.picklist(["lexical", "fuse"])),
      learn: flag,
      embeddings: v.optional(
        v.object({
          url: webUrl,
          model: filledText,
          apiKey: v.optional(text),
          dimensions: v.optional(numberOf(settingNumbers.embeddingDimensions)),
          deadlineMs: v.optional(numberOf(settingNumbers.embeddingDeadlineMs)),
        }),
      ),
    }),
  ),
  results: v.optional(v.object({ discoverTokens: v.optional(numberOf(settingNumbers.discoverTokens)) })),
  instances: v.optional(
    v.object({
      ...numbersOf(instanceNumbers),
      ...numbersOf(serverTimes),
      startTimeoutMs: v.optional(numberOf({ min: 100, max: longestMs })),
      parallelStarts: v.optional(numberOf(parallelStartsRange)),
      npxFromFolder: flag,
      restartDelaysMs: v.optional(
        v.pipe(v.array(numberOf({ min: 0, max: longestMs })), v.maxLength(20, "expected at most 20 delays")),
      ),
    }),
  ),
  limits: v.optional(v.object({ ...numbersOf(limitNumbers), ...numbersOf(callLimits.alone) })),
  namespaces: v.optional(
    v.object({
      enabled: flag,
      maxLoaded: v.optional(numberOf(settingNumbers.maxNamespaces)),
      cacheTtlMs: v.optional(numberOf(settingNumbers.cacheTtlMs)),
      preload: texts,
      parallelLoading: flag,
      helpTool: v.optional(
        v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,64}$/, "expected 1 to 64 letters, digits, `_` or `-`")),
      ),
      legacySupport: flag,
      deprecationWarnings: flag,
      autoMigration: flag,
    }),
  ),
  namespaceSupport: v.optional(namespaceSupportSchema),
  performance: v.optional(performanceSchema),
  clients: v.optional(v.record(filledText, profileSchema)),
  teams: v.optional(v.record(v.string(), v.object({ servers: overridesByServer }))),
  principals: v.optional(
    v.record(
      v.string(),
      v.object({
        team: v.optional(filledText),
        tokenHash: v.optional(tokenHash),
        tokenHashes: v.optional(v.array(tokenHash)),
        roles: v.optional(v.array(filledText)),
        servers: overridesByServer,
      }),
    ),
  ),
});

export type WrittenSettings = v.InferOutput<typeof settingsSchema>;
