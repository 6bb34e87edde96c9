import { createVariableNames, toConstant } from "../words/variable-names.ts";
import type { ServerInput } from "./server-json.ts";

/** Something that has to be asked for, or is told afterwards. */
export interface NeededInput {
  /** By which it is given: the name of a variable, a header, an option without its dashes. */
  readonly name: string;
  readonly description: string;
  readonly isSecret: boolean;
  readonly isRequired: boolean;
  /** Whether it is a path of the machine. */
  readonly isFile: boolean;
  readonly choices: readonly string[] | undefined;
  readonly placeholder: string | undefined;
  /** Without one that is given. */
  readonly preset: string | undefined;
}

/** The values known when an entry is made. */
export interface InputSource {
  /** The server's name in the file: secrets without a name of their own are called after it. */
  readonly server: string;
  /** What was given, by name. Several values are for what may be repeated. */
  readonly given: ReadonlyMap<string, readonly string[]>;
  /** Whether secrets are written into the file instead of a reference to a variable. */
  readonly literalSecrets: boolean;
  /** Variables that have a value already. Default: none. */
  readonly known?: Readonly<Record<string, string | undefined>>;
}

/** The values of one server's inputs, and what came up on the way. */
export interface Inputs {
  /** One value; undefined when there is none and none is needed. */
  resolve(name: string, input: ServerInput): string | undefined;
  /** All values that were given for an input that may be repeated, otherwise one or none. */
  resolveAll(name: string, input: ServerInput): readonly string[];
  /** All that were resolved. */
  readonly offered: readonly NeededInput[];
  /** Required, and neither given nor known. */
  readonly missing: readonly NeededInput[];
  /** Variables to which secrets refer, each with the value that was given for it. */
  readonly variables: ReadonlyMap<string, string | undefined>;
  /** What was given and belongs to no input. */
  unused(): readonly string[];
  /** Answers that are none of the choices. */
  readonly refused: readonly string[];
}

/** Begins without anything resolved. */
export function createInputs({ server, given, literalSecrets, known = {} }: InputSource): Inputs {
  const nameOf = createVariableNames(known);
  const offered = new Map<string, NeededInput>();
  const missing = new Map<string, NeededInput>();
  const variables = new Map<string, string | undefined>();
  const used = new Set<string>();
  const refused: string[] = [];

  function take(name: string): readonly string[] | undefined {
    const values = given.get(name);
    if (values !== undefined) used.add(name);
    return values;
  }

  function resolveOne(name: string, input: ServerInput, value: string | undefined): string | undefined {
    const needed = toNeeded(name, input);
    offered.set(name, needed);
    if (input.isSecret && !literalSecrets && (value !== undefined || input.isRequired)) return toVariable(name, value);
    const chosen = value ?? input.default;
    if (chosen !== undefined) {
      if (input.choices !== undefined && !input.choices.includes(chosen) && !chosen.includes("${"))
        refused.push(`${name} must be one of ${input.choices.join(", ")}`);
      return chosen;
    }
    if (input.isRequired) missing.set(name, needed);
    return undefined;
  }

  /** A secret in the file would be in every copy of it: the file refers to a variable. */
  function toVariable(name: string, value: string | undefined): string {
    if (value?.includes("${") === true) return value;
    const plain = variableFor(server, name);
    const variable = value === undefined ? plain : nameOf(plain, value, server);
    variables.set(variable, value);
    return `\${${variable}}`;
  }

  function fill(template: string, inner: ServerInput["variables"]): string | undefined {
    let isWhole = true;
    const text = template.replace(/\{([^{}]+)\}/g, (whole, name: string) => {
      const input = inner !== undefined && Object.hasOwn(inner, name) ? inner[name] : undefined;
      // A brace that is no variable stays as it is, as the schema says.
      if (input === undefined) return whole;
      const value = resolveOne(name, input, take(name)?.[0]);
      if (value === undefined) isWhole = false;
      return value ?? whole;
    });
    return isWhole ? text : undefined;
  }

  function resolve(name: string, input: ServerInput): string | undefined {
    if (input.value !== undefined) return fill(input.value, input.variables);
    return resolveOne(name, input, take(name)?.[0]);
  }

  return {
    resolve,
    resolveAll(name, input) {
      const values = input.value === undefined ? (take(name) ?? []) : [];
      if (values.length > 1) return values.flatMap((value) => resolveOne(name, input, value) ?? []);
      const value = resolve(name, input);
      return value === undefined ? [] : [value];
    },
    get offered() {
      return [...offered.values()];
    },
    get missing() {
      return [...missing.values()];
    },
    variables,
    unused: () => [...given.keys()].filter((name) => !used.has(name)),
    refused,
  };
}

function toNeeded(name: string, input: ServerInput): NeededInput {
  const { description = "", isSecret, isRequired, choices, placeholder, format } = input;
  return {
    name,
    description,
    isSecret,
    isRequired,
    isFile: format === "filepath",
    choices,
    placeholder,
    preset: input.default,
  };
}

/** `BRAVE_API_KEY` is a name of its own; a header `X-Key` of the server `maps` is MAPS_X_KEY. */
export function variableFor(server: string, name: string): string {
  return /^[A-Z][A-Z0-9]*_[A-Z0-9_]+$/.test(name) ? name : toConstant(`${server}_${name}`);
}
