import {
  atPointer,
  toDotted,
  gotAt,
  joined,
  list,
  problem,
  shown,
  subject,
  typesOf,
  withArticle,
  word,
  type Fault,
  type Problem,
} from "./wording.ts";

/** Alternatives that are named when none of several forms fits. */
const alternativeLimit = 3;

/**
 * Chooses the error that helps most, and words it. Undefined when the value cannot be judged after parsing: 2^53+1 and
 * 1e400 are other numbers in JSON than in JavaScript.
 *
 * @param errors the outermost last
 */
export function explain(errors: readonly Fault[], value: unknown): Problem | undefined {
  const last = errors.at(-1);
  if (last === undefined || losesPrecision(last, value)) return undefined;
  if (isUnion(last)) return explainUnion(last, errors.slice(0, -1), value);
  return word(last, value);
}

function isUnion(error: Fault): boolean {
  if (error.keyword === "oneOf") return error.params["passingSchemas"] === null;
  return error.keyword === "anyOf" || error.keyword === "if";
}

/**
 * None of the forms fits. A form whose `kind` was right and only the rest wrong tells more than those that expected
 * another `kind` or type. Where all expected another one, what they expected is combined.
 */
function explainUnion(union: Fault, before: readonly Fault[], value: unknown): Problem | undefined {
  const inner = before.filter((error) => within(error, union) && !isUnion(error));
  if (inner.some((error) => losesPrecision(error, value))) return undefined;
  const deeper = inner.filter((error) => error.instancePath !== union.instancePath);
  const wrongInside = deeper.find((error) => error.keyword === "type" || !isChoice(error));
  if (wrongInside) return word(wrongInside, value);
  const specific = inner.filter((error) => !isChoice(error));
  if (specific.length > 0) return alternatives(toDotted(union.instancePath), specific, value);
  return offerChoices(deeper[0] ?? union, inner, value);
}

function alternatives(path: string, errors: readonly Fault[], value: unknown): Problem {
  const messages = new Set(errors.map((error) => word(error, value).message));
  return problem(path, [...messages].slice(0, alternativeLimit).join("; or "));
}

function offerChoices(at: Fault, errors: readonly Fault[], value: unknown): Problem {
  const path = toDotted(at.instancePath);
  const choices = errors.filter((error) => error.instancePath === at.instancePath).flatMap(choicesOf);
  if (choices.length === 0) return problem(path, `${subject(path)} has none of the allowed forms`);
  return problem(path, `${subject(path)} must be ${joined(choices)}`, gotAt(at, value));
}

function isChoice({ keyword }: Fault): boolean {
  return keyword === "type" || keyword === "const" || keyword === "enum";
}

function within(error: Fault, union: Fault): boolean {
  return error.instancePath === union.instancePath || error.instancePath.startsWith(`${union.instancePath}/`);
}

function choicesOf(error: Fault): string[] {
  if (error.keyword === "type") return typesOf(error).map(withArticle);
  if (error.keyword === "const") return [shown(error.params["allowedValue"])];
  if (error.keyword === "enum") return [`one of ${list((error.params["allowedValues"] as unknown[]).map(shown))}`];
  return [];
}

/** Keywords whose result depends on every digit of a number. */
const exactKeywords: readonly string[] = [
  "const",
  "enum",
  "multipleOf",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "uniqueItems",
];

function losesPrecision(error: Fault, value: unknown): boolean {
  return exactKeywords.includes(error.keyword) && holdsInexact(atPointer(value, error.instancePath));
}

function holdsInexact(value: unknown): boolean {
  if (typeof value === "number") return !(Math.abs(value) <= Number.MAX_SAFE_INTEGER);
  return Array.isArray(value) && value.some((item) => typeof item === "number" && holdsInexact(item));
}
