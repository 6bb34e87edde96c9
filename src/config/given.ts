import * as v from "valibot";
import { GatewayError } from "../kernel/failures/gateway-error.ts";
import { placedRows, type PlacedRow } from "./rows/row-reading.ts";
import type { Written } from "./rows/setting-row.ts";
import { settingsTable } from "./settings/settings-table.ts";
import type { Variables } from "./file/substitution.ts";

/**
 * The command line's flags, as typed, by their name without dashes. `--config` is not among them: it is `file` of
 * `loadConfig`.
 */
export type ConfigFlags = Readonly<Record<string, string | boolean | undefined>>;

/**
 * Settings from flags and variables, where a flag takes precedence over its variable. Undefined where neither is
 * given.
 */
export type Given = Written<typeof settingsTable>;

/** Throws GatewayError CONFIG_INVALID, which names the flag or variable and what was expected, never the value. */
export function readGiven(flags: ConfigFlags, env: Variables): Given {
  const given: MutableObject = {};
  for (const { path, row } of placedRows(settingsTable)) {
    const source = findGiven(row, flags, env);
    const value = typeof source === "boolean" ? source : source && toValue(row, source);
    if (value !== undefined) put(given, path, value);
  }
  return given as Given;
}

interface MutableObject {
  [name: string]: unknown;
}

function put(into: MutableObject, path: readonly string[], value: unknown): void {
  const [name = "", ...rest] = path;
  if (rest.length === 0) into[name] = value;
  else put((into[name] ??= {}) as MutableObject, rest, value);
}

/** The text of a flag or variable, and the name of that flag or variable. */
export interface GivenText {
  readonly name: string;
  readonly text: string;
}

/** The variable that belongs to a flag: `data-dir` is TOOLYARD_DATA_DIR. */
export function variableOf(flag: string): string {
  return `TOOLYARD_${flag.toUpperCase().replaceAll("-", "_")}`;
}

type SettingRow = PlacedRow["row"];

function findGiven(
  { flag, variable }: SettingRow,
  flags: ConfigFlags,
  env: Variables,
): GivenText | boolean | undefined {
  const typed = flag && flags[flag.name];
  if (flag !== undefined && typed !== undefined)
    return typeof typed === "boolean" ? typed : { name: `--${flag.name}`, text: typed };
  const name = flag === undefined ? variable : variableOf(flag.name);
  return name === undefined ? undefined : givenVariable(name, env);
}

/** The flag or variable that decides a setting: `--port`, `TOOLYARD_PORT`. Undefined where none is given. */
export function givenBy(row: SettingRow, flags: ConfigFlags, env: Variables): string | undefined {
  const source = findGiven(row, flags, env);
  return typeof source === "boolean" ? `--${row.flag?.name ?? ""}` : source?.name;
}

/** An empty variable counts as unset, because that is how a shell or a compose file unsets one. */
export function givenVariable(name: string, env: Variables): GivenText | undefined {
  const text = env[name];
  return text === undefined || text === "" ? undefined : { name, text };
}

function toValue(row: SettingRow, source: GivenText): unknown {
  const { form } = row;
  switch (form.kind) {
    case "number":
      return row.isVariableInSeconds === true && source.name === row.variable
        ? toNumber(source, { min: Math.ceil(form.min / 1_000), max: Math.floor(form.max / 1_000) }) * 1_000
        : toNumber(source, form);
    case "boolean":
      return toBoolean(source);
    case "choice":
      return toChoice(source, form.choices);
    case "text":
      return checked(row, source, toFilled(source));
    case "list":
      return checked(row, source, toList(source));
    case "other":
      throw new Error(`${source.name}: a row of this kind is not given as text`);
  }
}

/** Throws GatewayError CONFIG_INVALID for a text of nothing but white space. */
export function toFilled(source: GivenText): string;
export function toFilled(source: GivenText | undefined): string | undefined;
export function toFilled(source: GivenText | undefined): string | undefined {
  if (source?.text.trim() === "") fail(source, "a value that is not empty");
  return source?.text;
}

function toNumber(source: GivenText, range: { readonly min: number; readonly max: number }): number {
  const value = /^[0-9]{1,15}$/.test(source.text) ? Number(source.text) : Number.NaN;
  if (!(value >= range.min && value <= range.max)) fail(source, `a whole number from ${range.min} to ${range.max}`);
  return value;
}

/** Throws GatewayError CONFIG_INVALID for a text that means neither true nor false. */
export function toBoolean(source: GivenText | undefined): boolean | undefined {
  if (!source) return undefined;
  const text = source.text.toLowerCase();
  if (["true", "1", "yes", "on"].includes(text)) return true;
  if (["false", "0", "no", "off"].includes(text)) return false;
  return fail(source, '"true" or "false"');
}

function toChoice(source: GivenText, choices: readonly string[]): string {
  const found = choices.find((choice) => choice === source.text);
  return found ?? fail(source, `one of ${choices.join(", ")}`);
}

function toList({ text }: GivenText): readonly string[] {
  return text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

/** The given text as the row's schema reads it, so that flags and variables are checked exactly as the file is. */
function checked(row: SettingRow, source: GivenText, value: unknown): unknown {
  const parsed = v.safeParse(row.schema, value, { abortEarly: true });
  return parsed.success ? parsed.output : fail(source, parsed.issues[0].message.replace(/^expected /, ""));
}

function fail(source: GivenText, expected: string): never {
  throw new GatewayError("CONFIG_INVALID", `${source.name}: expected ${expected}`, {
    hint: `Correct ${source.name}, or leave it out.`,
  });
}

/** The environment of this process, for a gateway that is not given another. */
export function ownEnvironment(): Readonly<Record<string, string | undefined>> {
  return process.env;
}

export type GivenFlags = Readonly<Record<string, string | boolean | undefined>>;

/** Options that may be given several times, in the order of the command line. */
export type GivenLists = Readonly<Record<string, readonly string[] | undefined>>;

/** What a command was given: flags, and the variables that stand for them. */
interface Options {
  readonly flags: GivenFlags;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * An option as typed, or as its variable has it: `--data-dir` is TOOLYARD_DATA_DIR. An empty variable counts as
 * unset.
 */
export function givenOption({ flags, env }: Options, option: string): GivenText | undefined {
  const typed = flags[option];
  if (typeof typed === "string") return { name: `--${option}`, text: typed };
  return givenVariable(variableOf(option), env);
}

/** Throws CONFIG_INVALID for an option whose value is empty. */
export function textOption(given: Options, option: string): string | undefined {
  return toFilled(givenOption(given, option));
}

/** The name of a team, only as typed: TOOLYARD_TEAM is the setting of `serve`. */
export function typedTeam({ flags }: Pick<Options, "flags">): string | undefined {
  return typeof flags["team"] === "string" ? flags["team"] : undefined;
}

/**
 * Whether an option without a value is given. Throws CONFIG_INVALID for a variable that is neither true nor false.
 */
export function isOn(given: Options, option: string): boolean {
  return given.flags[option] === true || (toBoolean(givenOption(given, option)) ?? false);
}

/**
 * The values of an option that may be given several times. Its variable has commas between them. Throws CONFIG_INVALID
 * for a variable whose value is empty.
 */
export function listOption(
  given: Options & { readonly lists?: GivenLists | undefined },
  option: string,
): readonly string[] {
  const typed = given.lists?.[option];
  if (typed !== undefined) return typed;
  const text = toFilled(givenVariable(variableOf(option), given.env));
  return text === undefined ? [] : text.split(",");
}
