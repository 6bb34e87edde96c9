export type Variables = Readonly<Record<string, string | undefined>>;

/** A value with its variables filled in, and what could not be. */
export interface Substituted<T = unknown> {
  readonly value: T;
  /** Where a variable was missing, and its name; the text there is left as it was written. */
  readonly missing: readonly MissingVariable[];
  /** Values of variables that went in, and so must not be shown. */
  readonly secrets: ReadonlySet<string>;
}

export interface MissingVariable {
  readonly path: readonly (string | number)[];
  readonly name: string;
}

/** Everybody's environment has these; hiding the home directory would only make the log unreadable. */
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

/**
 * Fills in `${VAR}`, `${env:VAR}` and `${VAR:-default}` in every string of `value` (DESIGN.md section 9). The default counts
 * when the variable is unset or empty, as in a shell, and may itself name variables. A variable's value is never looked at again.
 * `${input:x}`, which only VS Code can ask for, counts as missing. All other text is kept byte for byte.
 */
export function substitute(value: unknown, variables: Variables): Substituted {
  const missing: MissingVariable[] = [];
  const secrets = new Set<string>();

  function visit(part: unknown, path: readonly (string | number)[]): unknown {
    if (typeof part === "string")
      return fill(part, {
        variables,
        secrets,
        onMissing: (name) => missing.push({ path, name }),
        depth: 0,
      });
    if (Array.isArray(part)) return part.map((item, index) => visit(item, [...path, index]));
    if (typeof part !== "object" || part === null) return part;
    const copy: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
    for (const [key, item] of Object.entries(part)) copy[key] = visit(item, [...path, key]);
    return copy;
  }

  return { value: visit(value, []), missing, secrets };
}

interface Filling {
  readonly variables: Variables;
  readonly secrets: Set<string>;
  readonly onMissing: (name: string) => void;
  /** How many defaults this text is inside of. */
  readonly depth: number;
}

/** Nobody nests defaults deeper or writes longer ones; without limits a hostile text costs quadratic time or the stack. */
const mostNesting = 16;
const longestDefault = 4_096;

const opening = /\$\{(?:(env|input):)?([A-Za-z_][A-Za-z0-9_.-]*)(:-|\})/y;

function fill(text: string, filling: Filling): string {
  let result = "";
  let position = 0;
  for (;;) {
    const start = text.indexOf("${", position);
    if (start === -1) return result + text.slice(position);
    const reference = readReference(text, start);
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

interface Reference {
  readonly kind: "env" | "input";
  readonly name: string;
  readonly fallback: string | undefined;
  readonly end: number;
}

function readReference(text: string, start: number): Reference | undefined {
  // A sticky expression keeps its position in itself: a copy per use keeps that out of the module's state.
  const pattern = new RegExp(opening);
  pattern.lastIndex = start;
  const match = pattern.exec(text);
  if (!match) return undefined;
  const kind = match[1] === "input" ? "input" : "env";
  const name = match[2] ?? "";
  if (match[3] === "}") return { kind, name, fallback: undefined, end: pattern.lastIndex };
  const close = closingBrace(text, pattern.lastIndex);
  return close === -1 ? undefined : { kind, name, fallback: text.slice(pattern.lastIndex, close), end: close + 1 };
}

/** A default may hold `${OTHER}` and JSON: braces in it are counted. */
function closingBrace(text: string, from: number): number {
  let depth = 0;
  const end = Math.min(text.length, from + longestDefault);
  for (let index = from; index < end; index += 1) {
    if (text[index] === "{") depth += 1;
    if (text[index] === "}") depth -= 1;
    if (depth < 0) return index;
  }
  return -1;
}

function valueOf(reference: Reference, written: string, filling: Filling): string {
  const value =
    reference.kind === "env" && Object.hasOwn(filling.variables, reference.name)
      ? filling.variables[reference.name]
      : undefined;
  if (value !== undefined && (value !== "" || reference.fallback === undefined)) {
    if (!notSecret.includes(reference.name)) filling.secrets.add(value);
    return value;
  }
  if (reference.fallback !== undefined && filling.depth < mostNesting) {
    return fill(reference.fallback, { ...filling, depth: filling.depth + 1 });
  }
  filling.onMissing(reference.kind === "input" ? `input:${reference.name}` : reference.name);
  return written;
}
