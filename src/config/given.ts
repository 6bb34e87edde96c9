import * as v from "valibot";
import { longestMs } from "../kernel/limits.ts";
import { GatewayError } from "../kernel/gateway-error.ts";
import type { LogLevel } from "./config.ts";
import { settingNumbers } from "./defaults.ts";
import { exposureNames, type ExposureName } from "./exposures.ts";
import { logLevels } from "./settings-schema.ts";
import type { Variables } from "./substitution.ts";
import { publicAddress } from "./web-names.ts";

/** What the command line gives, as it was typed. `--config` is `file` of {@link loadConfig}. */
export interface ConfigFlags {
  readonly host?: string | undefined;
  readonly port?: string | undefined;
  readonly publicUrl?: string | undefined;
  readonly dataDir?: string | undefined;
  readonly exposure?: string | undefined;
  readonly insecure?: boolean | undefined;
  readonly logLevel?: string | undefined;
}

/** Settings from flags and variables, a flag before its variable; undefined where neither speaks. */
export interface Given {
  readonly host: string | undefined;
  readonly port: number | undefined;
  readonly publicUrl: string | undefined;
  readonly dataDir: string | undefined;
  readonly exposure: ExposureName | undefined;
  readonly insecure: boolean | undefined;
  readonly logLevel: LogLevel | undefined;
  readonly debugRoute: boolean | undefined;
  readonly maxNamespaces: number | undefined;
  readonly cacheTtlMs: number | undefined;
  readonly preload: readonly string[] | undefined;
  readonly parallelLoading: boolean | undefined;
}

/** Throws GatewayError CONFIG_INVALID that names the flag or variable and what was expected, never the value. */
export function readGiven(flags: ConfigFlags, env: Variables): Given {
  /** An empty variable counts as unset: that is how a shell and a compose file take one away. */
  const pick = (flag: string, typed: string | undefined, variable: string): GivenText | undefined => {
    if (typed !== undefined) return { name: flag, text: typed };
    const text = env[variable];
    return text === undefined || text === "" ? undefined : { name: variable, text };
  };
  const variable = (name: string) => pick(name, undefined, name);
  const seconds = toNumber(variable("TOOLYARD_CACHE_TIMEOUT"), {
    min: 1,
    max: Math.floor(longestMs / 1000),
  });
  return {
    host: toFilled(pick("--host", flags.host, "TOOLYARD_HOST")),
    port: toNumber(pick("--port", flags.port, "TOOLYARD_PORT"), settingNumbers.port),
    publicUrl: toPublicUrl(pick("--public-url", flags.publicUrl, "TOOLYARD_PUBLIC_URL")),
    dataDir: toFilled(pick("--data-dir", flags.dataDir, "TOOLYARD_DATA_DIR")),
    exposure: toChoice(pick("--exposure", flags.exposure, "TOOLYARD_EXPOSURE"), exposureNames),
    insecure: flags.insecure ?? toBoolean(variable("TOOLYARD_INSECURE")),
    logLevel: toChoice(pick("--log-level", flags.logLevel, "TOOLYARD_LOG_LEVEL"), logLevels),
    debugRoute: toBoolean(variable("TOOLYARD_DEBUG_ROUTE")),
    maxNamespaces: toNumber(variable("TOOLYARD_MAX_NAMESPACES"), settingNumbers.maxNamespaces),
    cacheTtlMs: seconds === undefined ? undefined : seconds * 1000,
    preload: variable("TOOLYARD_PRELOAD_NAMESPACES")
      ?.text.split(",")
      .map((name) => name.trim())
      .filter((name) => name !== ""),
    parallelLoading: toBoolean(variable("TOOLYARD_ENABLE_PARALLEL_LOADING")),
  };
}

function toPublicUrl(source: GivenText | undefined): string | undefined {
  if (!source) return undefined;
  const read = v.safeParse(publicAddress, source.text);
  return read.success ? read.output : fail(source, read.issues[0].message.replace(/^expected /, ""));
}

/** The text of a flag or variable, and which one it was. */
export interface GivenText {
  readonly name: string;
  readonly text: string;
}

/** Throws GatewayError CONFIG_INVALID for a text of nothing but white space. */
export function toFilled(source: GivenText | undefined): string | undefined {
  if (source?.text.trim() === "") fail(source, "a value that is not empty");
  return source?.text;
}

function toNumber(
  source: GivenText | undefined,
  range: { readonly min: number; readonly max: number },
): number | undefined {
  if (!source) return undefined;
  const value = /^[0-9]{1,15}$/.test(source.text) ? Number(source.text) : Number.NaN;
  if (!(value >= range.min && value <= range.max)) fail(source, `a whole number from ${range.min} to ${range.max}`);
  return value;
}

/** Throws GatewayError CONFIG_INVALID for a text that is neither. */
export function toBoolean(source: GivenText | undefined): boolean | undefined {
  if (!source) return undefined;
  const text = source.text.toLowerCase();
  if (["true", "1", "yes", "on"].includes(text)) return true;
  if (["false", "0", "no", "off"].includes(text)) return false;
  return fail(source, '"true" or "false"');
}

function toChoice<Choice extends string>(
  source: GivenText | undefined,
  choices: readonly Choice[],
): Choice | undefined {
  if (!source) return undefined;
  const found = choices.find((choice) => choice === source.text);
  return found ?? fail(source, `one of ${choices.join(", ")}`);
}

function fail(source: GivenText, expected: string): never {
  throw new GatewayError("CONFIG_INVALID", `${source.name}: expected ${expected}`, {
    hint: `Correct ${source.name}, or leave it out.`,
  });
}
