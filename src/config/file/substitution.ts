export interface NotedReads {
  /** The given variables. Every variable that is read through this object is noted. */
  readonly variables: Variables;
  /** Every variable that was read until now with its value, or null for one that is not set. */
  read(): Readonly<Record<string, string | null>>;
}

/**
 * Records which variables are read. Whatever way the file refers to a variable, none can be missing from the
 * configuration's identity.
 */
export function noteReads(given: Variables): NotedReads {
  const names = new Set<string>();
  const note = (name: string | symbol): void => {
    if (typeof name === "string") names.add(name);
  };
  const variables = new Proxy(given, {
    get(target, name) {
      note(name);
      return Reflect.get(target, name) as unknown;
    },
    getOwnPropertyDescriptor(target, name) {
      note(name);
      return Reflect.getOwnPropertyDescriptor(target, name);
    },
  });
  return {
    variables,
    read: () =>
      Object.fromEntries(
        [...names].sort().map((name) => [name, Object.hasOwn(given, name) ? (given[name] ?? null) : null]),
      ),
  };
}

export type Variables = Readonly<Record<string, string | undefined>>;

/** A value with its variables filled in, and the variables that were missing. */
export interface Substituted<T = unknown> {
  readonly value: T;
  /** Where a variable was missing, and its name. The text there is left as it was written. */
  readonly missing: readonly MissingVariable[];
  /** Values of variables that were filled in, and so must not be shown. */
  readonly secrets: ReadonlySet<string>;
}

export interface MissingVariable {
  readonly path: readonly (string | number)[];
  readonly name: string;
}

/** Everybody's environment has these, and hiding the home directory would only make the log unreadable. */
const notSecret: readonly string[] = [
  "HOME",
  "USER",
  "LOGNAME",
  "PWD",
  "SHELL",
  "LANG",
  "TMPDIR",
  "HOSTNAME",
  "USERPROFILE",
  "APPDATA",
  "LOCALAPPDATA",
];

/** Where the values of variables come from. */
export interface VariableSource {
  readonly variables: Variables;
  /** Names that are no variables, like `workspaceFolder` and `input:id`; these are not secret. */
  readonly predefined?: Variables;
  /** What comes before `variables`. Its values are known to be secret or not without this. */
  readonly own?: (name: string) => string | undefined;
}

/**
 * Fills in `${VAR}`, `${env:VAR}` and `${VAR:-default}` in every string of `value`. As in a shell, the default
 * applies when the variable is unset or empty, and may itself refer to variables. The value of a variable is not
 * substituted again. `${input:id}`, for which VS Code asks its user, is the variable `TOOLYARD_INPUT_ID`. All other
 * text is kept byte for byte.
 */
export function substitute(value: unknown, { variables, predefined = {}, own }: VariableSource): Substituted {
  const missing: MissingVariable[] = [];
  const secrets = new Set<string>();

  function valueOf({ kind, name, variable, fallback }: Reference): string | undefined {
    const preset =
      kind === "env" || kind === "secret" ? undefined : ownValue(predefined, kind === "input" ? `input:${name}` : name);
    const first = own?.(variable);
    const given = first ?? ownValue(variables, variable);
    if (given === undefined || (given === "" && (fallback ?? preset) !== undefined)) return preset;
    if (first === undefined && !notSecret.includes(name)) secrets.add(given);
    return given;
  }

  const filled = replaceReferences(value, {
    valueOf,
    onMissing({ kind, name }, path) {
      // A secret of a team is known only where the server runs for one.
      if (kind === "secret") return;
      missing.push({ path, name: kind === "input" ? `input:${name}` : name });
    },
  });
  return { value: filled, missing, secrets };
}

/** `${VAR}`, `${env:VAR}`, `${input:id}` or a team's `${secret:NAME}` in a text, with or without a default. */
export interface Reference {
  /** `plain` means without a prefix, as predefined names are written. */
  readonly kind: "env" | "input" | "secret" | "plain";
  readonly name: string;
  /** The variable that it means, also where it names an input. Of a secret, `secret:NAME`. */
  readonly variable: string;
  readonly fallback: string | undefined;
}

export interface ReferenceRules {
  /** Its value; undefined for its default, in which references are replaced as well. */
  readonly valueOf: (reference: Reference, path: readonly (string | number)[]) => string | undefined;
  /** Of one that has neither a value nor a default: it is left as it was written. */
  readonly onMissing: (reference: Reference, path: readonly (string | number)[]) => void;
}

/** Replaces the references in every string of a value. All other text is kept byte for byte. */
export function replaceReferences(value: unknown, rules: ReferenceRules): unknown {
  function visit(part: unknown, path: readonly (string | number)[]): unknown {
    if (typeof part === "string") return fill(part, { rules, path, depth: 0 });
    if (Array.isArray(part)) return part.map((item, index) => visit(item, [...path, index]));
    if (typeof part !== "object" || part === null) return part;
    const copy: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
    for (const [key, item] of Object.entries(part)) copy[key] = visit(item, [...path, key]);
    return copy;
  }

  return visit(value, []);
}

/**
 * The variable that replaces an input of VS Code, because the gateway cannot prompt for it: `TOOLYARD_INPUT_API_KEY`
 * for
 * `api-key`.
 */
export function inputVariable(id: string): string {
  return `TOOLYARD_INPUT_${id.toUpperCase().replace(/[^A-Z0-9]/g, "_")}`;
}

/** Says which variables and inputs are missing. Undefined when none are. */
export function missingText(missing: readonly MissingVariable[]): string | undefined {
  const names = [...new Set(missing.map(({ name }) => name))];
  const variables = names.filter((name) => !name.startsWith("input:"));
  const inputs = names.filter((name) => name.startsWith("input:")).map((name) => name.slice("input:".length));
  const reasons = [
    ...(variables.length === 1 ? [`the variable ${variables[0]} is not set`] : []),
    ...(variables.length > 1 ? [`the variables ${variables.join(", ")} are not set`] : []),
    ...inputs.map(
      (id) => `it asks for the input ${JSON.stringify(id)}, and there is no one to ask here: set ${inputVariable(id)}`,
    ),
  ];
  return reasons.length === 0 ? undefined : reasons.join("; ");
}

interface Filling {
  readonly rules: ReferenceRules;
  readonly path: readonly (string | number)[];
  /** How many defaults enclose this text. */
  readonly depth: number;
}

/**
 * Beyond the nesting and length of any real default. Without limits, a hostile text would take quadratic time or
 * overflow the stack.
 */
export const mostNesting = 16;
const longestDefault = 4_096;

/** The name of an input is free text, and that of a secret as teams give them. `${/}` is the path separator. */
const opening =
  /\$\{(?:input:(?<input>[^{}:]{1,100})|secret:(?<secret>[A-Za-z0-9][A-Za-z0-9._-]{0,99})(?=\})|(?<env>env:)?(?<plain>[A-Za-z_][A-Za-z0-9_.-]*|\/))(?<end>:-|\})/y;

function fill(text: string, filling: Filling): string {
  if (!text.includes("${")) return text;
  // A sticky expression stores its position in itself. A copy for each text keeps that out of the module's state.
  const pattern = new RegExp(opening);
  const closing = text.includes(":-") ? closingBraces(text) : undefined;
  let result = "";
  let position = 0;
  for (;;) {
    const start = text.indexOf("${", position);
    if (start === -1) return result + text.slice(position);
    const reference = readReference(text, { start, pattern, closing });
    result += text.slice(position, start);
    if (reference === undefined) {
      result += "${";
      position = start + 2;
    } else {
      result += valueOf(reference, text.slice(start, reference.end), filling);
      position = reference.end;
    }
  }
}

interface FoundReference extends Reference {
  readonly end: number;
}

interface Reading {
  readonly start: number;
  readonly pattern: RegExp;
  /** Of a text in which there are defaults. */
  readonly closing: ReadonlyMap<number, number> | undefined;
}

function readReference(text: string, { start, pattern, closing }: Reading): FoundReference | undefined {
  pattern.lastIndex = start;
  const match = pattern.exec(text);
  if (!match) return undefined;
  const about = toReference(match.groups ?? {});
  if (match.groups?.["end"] === "}") return { ...about, fallback: undefined, end: pattern.lastIndex };
  const close = closing?.get(start + 1) ?? Number.POSITIVE_INFINITY;
  const from = pattern.lastIndex;
  return close - from >= longestDefault ? undefined : { ...about, fallback: text.slice(from, close), end: close + 1 };
}

function toReference(found: Readonly<Record<string, string | undefined>>): Omit<Reference, "fallback"> {
  const { input, secret, env, plain = "" } = found;
  if (input !== undefined) return { kind: "input", name: input, variable: inputVariable(input) };
  if (secret !== undefined) return { kind: "secret", name: secret, variable: `secret:${secret}` };
  return { kind: env === undefined ? "plain" : "env", name: plain, variable: plain };
}

/** By the place of each brace that opens, that of the one that closes it: a default may contain `${OTHER}` and JSON. */
function closingBraces(text: string): ReadonlyMap<number, number> {
  const closing = new Map<number, number>();
  const open: number[] = [];
  for (const { index, 0: brace } of text.matchAll(/[{}]/g)) {
    if (brace === "{") {
      open.push(index);
      continue;
    }
    const start = open.pop();
    if (start !== undefined) closing.set(start, index);
  }
  return closing;
}

function valueOf(reference: Reference, written: string, { rules, path, depth }: Filling): string {
  const value = rules.valueOf(reference, path);
  if (value !== undefined) return value;
  const { fallback } = reference;
  if (fallback !== undefined && depth < mostNesting) return fill(fallback, { rules, path, depth: depth + 1 });
  rules.onMissing(reference, path);
  return written;
}

function ownValue(variables: Variables, name: string): string | undefined {
  return Object.hasOwn(variables, name) ? variables[name] : undefined;
}

/** The first variable that such a text says is missing; undefined where it says something else. */
export function missingIn(text: string): string | undefined {
  return /the variables? ([A-Za-z_]\w*)/.exec(text)?.[1];
}
