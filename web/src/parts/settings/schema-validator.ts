import { Validator, type OutputUnit, type Schema } from "@cfworker/json-schema";
import {
  toErrorSchema,
  type ErrorSchema,
  type RJSFSchema,
  type RJSFValidationError,
  type ValidationData,
  type ValidatorType,
} from "@rjsf/utils";
import { inexactPaths } from "../../words/text/exact-json.ts";

/** Checks values without making code of schemas, which the policy of the page forbids. */
function errorsOf(schema: RJSFSchema, value: unknown): readonly OutputUnit[] {
  try {
    return new Validator(schema as Schema, "2020-12", false).validate(value).errors;
  } catch {
    // A schema that cannot be read checks nothing here; the gateway checks the call in any case.
    return [];
  }
}

/** Errors that only say that something within is wrong. */
const outer = new Set(["properties", "items", "prefixItems", "additionalProperties", "$ref", "allOf"]);

function toFormError({ instanceLocation, keyword, error }: OutputUnit): RJSFValidationError {
  const [missing] = keyword === "required" ? (/"([^"]+)"/.exec(error)?.slice(1) ?? []) : [];
  const steps = instanceLocation.replace(/^#\/?/, "").split("/").map(decodePointer);
  const path = [...steps, ...(missing === undefined ? [] : [missing])].filter((step) => step !== "");
  const message = missing === undefined ? error : "is needed";
  return { name: keyword, property: `.${path.join(".")}`, message, stack: `${path.join(".")} ${message}`, params: {} };
}

/** The number as typed is lost by now: another one would be sent. */
function toInexactError(path: readonly string[]): RJSFValidationError {
  const message = "is longer than a form can hold";
  const place = path.join(".");
  return { name: "inexact", property: `.${place}`, message, stack: `${place} ${message}`, params: {} };
}

function decodePointer(step: string): string {
  return decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
}

export const schemaValidator: ValidatorType = {
  validateFormData(formData: unknown, schema: RJSFSchema): ValidationData<unknown> {
    const errors = [
      ...errorsOf(schema, formData)
        .filter(({ keyword }) => !outer.has(keyword))
        .map(toFormError),
      ...inexactPaths(formData).map(toInexactError),
    ];
    return { errors, errorSchema: toErrorSchema(errors) as ErrorSchema };
  },
  isValid: (schema, formData, rootSchema) => {
    // Alternatives refer to what the whole schema defines.
    const { $defs, definitions } = rootSchema;
    const whole = {
      ...($defs === undefined ? {} : { $defs }),
      ...(definitions === undefined ? {} : { definitions }),
      ...schema,
    };
    return errorsOf(whole, formData).length === 0;
  },
  rawValidation: (schema, formData) => ({ errors: [...errorsOf(schema, formData)] as never[] }),
};
