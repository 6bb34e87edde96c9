import { givenVariable, toBoolean, toFilled, variableOf, type GivenText } from "../../config/given.ts";

export type GivenFlags = Readonly<Record<string, string | boolean | undefined>>;

/** Options that may be given several times, in the order of the command line. */
export type GivenLists = Readonly<Record<string, readonly string[] | undefined>>;

/** What a command was given: flags, and the variables that stand for them. */
interface Given {
  readonly flags: GivenFlags;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * An option as typed, or as its variable has it: `--data-dir` is TOOLYARD_DATA_DIR. An empty variable counts as
 * unset.
 */
export function givenOption({ flags, env }: Given, option: string): GivenText | undefined {
  const typed = flags[option];
  if (typeof typed === "string") return { name: `--${option}`, text: typed };
  return givenVariable(variableOf(option), env);
}

/** Throws CONFIG_INVALID for an option whose value is empty. */
export function textOption(given: Given, option: string): string | undefined {
  return toFilled(givenOption(given, option));
}

/** The name of a team, only as typed: TOOLYARD_TEAM is the setting of `serve`. */
export function typedTeam({ flags }: Pick<Given, "flags">): string | undefined {
  return typeof flags["team"] === "string" ? flags["team"] : undefined;
}

/**
 * Whether an option without a value is given. Throws CONFIG_INVALID for a variable that is neither true nor false.
 */
export function isOn(given: Given, option: string): boolean {
  return given.flags[option] === true || (toBoolean(givenOption(given, option)) ?? false);
}

/**
 * The values of an option that may be given several times. Its variable has commas between them. Throws CONFIG_INVALID
 * for a variable whose value is empty.
 */
export function listOption(
  given: Given & { readonly lists?: GivenLists | undefined },
  option: string,
): readonly string[] {
  const typed = given.lists?.[option];
  if (typed !== undefined) return typed;
  const text = toFilled(givenVariable(variableOf(option), given.env));
  return text === undefined ? [] : text.split(",");
}
