import { isJsonObject, type JsonObject } from "../../kernel/text/json-bytes.ts";
import { plainText } from "../../kernel/text/plain-text.ts";

/** What was typed for a field: a JSON text, nothing, or its mistake. */
export interface FieldAnswer {
  readonly value?: string | undefined;
  readonly problem?: string;
}

/** How one field of a form is asked for, and read. */
export interface FieldForm {
  readonly prompt: string;
  readonly read: (typed: string) => FieldAnswer;
}

interface Choice {
  readonly value: string;
  readonly title: string;
}

const numberText = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const integerText = /^-?(?:0|[1-9]\d*)$/;

/** The fields that a question may have are flat: texts, numbers, yes or no, and choices (2025-11-25, elicitation). */
export function readField(name: string, field: JsonObject, isRequired: boolean): FieldForm {
  const { type, title, description } = field;
  const choices = choicesOf(type === "array" && isJsonObject(field["items"]) ? field["items"] : field);
  const fallback = field["default"];
  const notes = [
    ...(typeof description === "string" ? [description] : []),
    ...(choices.length === 0 ? (kindNotes[String(type)] ?? []) : [`one of ${choices.map(choiceText).join(", ")}`]),
    ...(type === "array" ? ["several with commas between"] : []),
    ...(fallback === undefined ? (isRequired ? [] : ["may be left out"]) : [`Enter for ${JSON.stringify(fallback)}`]),
  ];
  return {
    prompt: plainText(
      `${typeof title === "string" ? title : name}${notes.length === 0 ? "" : ` (${notes.join("; ")})`}`,
    ),
    read(typed) {
      const text = typed.trim();
      if (text !== "") return type === "array" ? readSeveral(text, choices) : readOne(text, type, choices);
      if (fallback !== undefined) return { value: JSON.stringify(fallback) };
      return isRequired ? { problem: "This cannot be left out." } : {};
    },
  };
}

const kindNotes: Readonly<Record<string, readonly string[]>> = {
  boolean: ["y or n"],
  number: ["a number"],
  integer: ["a whole number"],
};

function readOne(text: string, type: unknown, choices: readonly Choice[]): FieldAnswer {
  if (choices.length > 0) {
    const chosen = choices.find(({ value, title }) => value === text || title === text);
    return chosen === undefined
      ? { problem: `It has to be one of ${choices.map(choiceText).map(plainText).join(", ")}.` }
      : { value: JSON.stringify(chosen.value) };
  }
  if (type === "boolean") {
    if (/^(y|yes|true)$/i.test(text)) return { value: "true" };
    return /^(n|no|false)$/i.test(text) ? { value: "false" } : { problem: "Type y or n." };
  }
  if (type === "integer") return integerText.test(text) ? { value: text } : { problem: "Type a whole number." };
  if (type === "number") return numberText.test(text) ? { value: text } : { problem: "Type a number." };
  return { value: JSON.stringify(text) };
}

function readSeveral(text: string, choices: readonly Choice[]): FieldAnswer {
  const answers = text.split(",").map((one) => readOne(one.trim(), "string", choices));
  const wrong = answers.find(({ problem }) => problem !== undefined);
  return wrong ?? { value: `[${answers.map(({ value }) => value).join(",")}]` };
}

function choicesOf({ enum: values, enumNames, oneOf, anyOf }: JsonObject): readonly Choice[] {
  const titled = [oneOf, anyOf]
    .flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []))
    .filter(isJsonObject);
  if (titled.length > 0)
    return titled.map((one) => ({ value: String(one["const"]), title: String(one["title"] ?? one["const"]) }));
  const names: unknown[] = Array.isArray(enumNames) ? enumNames : [];
  return Array.isArray(values)
    ? values.map((value, at) => ({ value: String(value), title: String(names[at] ?? value) }))
    : [];
}

function choiceText({ value, title }: Choice): string {
  return title === value ? value : `${value} (${title})`;
}
