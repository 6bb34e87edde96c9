import { _, type Ajv, type CodeKeywordDefinition, type KeywordCxt } from "ajv";
import { stringify } from "ajv/dist/compile/codegen/index.js";
import { isJsonObject } from "../../../kernel/text/json-bytes.ts";
import { unitsPerLook } from "../budget.ts";
import type { FormatSearch } from "../formats/format-search.ts";
import { patternCost } from "../formats/pattern.ts";
import { runtimeNames } from "../runtime.ts";
import { namedFieldLimit } from "../wording.ts";

type EmitCode = CodeKeywordDefinition["code"];

/** Keywords that cost more than one step, with their cost in units of the budget for a given schema. */
const charges: Readonly<Record<string, number | "entries" | "items">> = {
  $ref: 8,
  $dynamicRef: 8,
  $recursiveRef: 8,
  allOf: "entries",
  anyOf: "entries",
  oneOf: "entries",
  enum: "entries",
  required: "entries",
  properties: "entries",
  dependencies: "entries",
  dependentRequired: "entries",
  dependentSchemas: "entries",
  prefixItems: "entries",
  items: "items",
  additionalItems: "items",
  unevaluatedItems: "items",
  contains: "items",
  uniqueItems: "items",
  // An object's members cannot be counted without visiting them, so that many are assumed.
  patternProperties: unitsPerLook / 8,
  propertyNames: unitsPerLook / 8,
  additionalProperties: unitsPerLook / 32,
  unevaluatedProperties: unitsPerLook / 4,
  minProperties: unitsPerLook,
  maxProperties: unitsPerLook,
};

/** Total size of all patterns of one schema, in RE2 instructions. */
const totalProgramLimit = 20_000;

/**
 * Changes the code that this Ajv instance writes, so that it is safe to run on the main thread: it pays from the
 * budget, leaves out patterns that RE2 cannot run, lets nothing depend on formats, and names the allowed fields when
 * one is unknown.
 */
export function guardKeywords(
  ajv: Ajv,
  { isDraft04, namesFormat }: { readonly isDraft04: boolean; readonly namesFormat: FormatSearch },
): void {
  const usable = createPatternJudge();
  for (const [keyword, charge] of Object.entries(charges)) {
    change(ajv, keyword, (emit) => (cxt, ruleType) => {
      emitCharge(cxt, charge);
      return emit(cxt, ruleType);
    });
  }
  change(ajv, "pattern", (emit) => (cxt, ruleType) => (usable(String(cxt.schema)) ? emit(cxt, ruleType) : undefined));
  leaveFormatsOpen(ajv, namesFormat);
  for (const keyword of ["patternProperties", "additionalProperties"]) {
    change(ajv, keyword, (emit) => (cxt, ruleType) => {
      if (hasUsablePatterns(cxt, usable)) return emit(cxt, ruleType);
      // Which members a dropped pattern would match is unknown, so that all of them count as known.
      cxt.it.props = true;
      return undefined;
    });
  }
  nameAllowedFields(ajv);
  // `id` has a meaning in draft-04 only, where Ajv does not support it and says so.
  if (!isDraft04) change(ajv, "id", () => () => undefined);
}

/**
 * Of alternatives with formats one has to fit, and not exactly one. What else is a fault where it fits, is left out,
 * with what follows from it.
 */
function leaveFormatsOpen(ajv: Ajv, namesFormat: FormatSearch): void {
  const anyOf = definitionOf(ajv, "anyOf");
  change(ajv, "oneOf", (emit) => (cxt, ruleType) => {
    if (anyOf === undefined || !namesFormat(cxt.schema)) return emit(cxt, ruleType);
    cxt.setParams({ passing: _`null` });
    return anyOf.code(cxt, ruleType);
  });
  for (const keyword of ["not", "if", "contains"]) {
    change(ajv, keyword, (emit) => (cxt, ruleType) => {
      const decides = keyword !== "contains" || cxt.parentSchema["maxContains"] !== undefined;
      if (!decides || !namesFormat(cxt.schema)) return emit(cxt, ruleType);
      // Which members it describes is unknown, so that all of them count as described.
      if (keyword !== "not") cxt.it.props = cxt.it.items = true;
      return undefined;
    });
  }
}

function emitCharge(cxt: KeywordCxt, charge: number | "entries" | "items"): void {
  const { gen, data, schema } = cxt;
  const budget = gen.scopeValue("func", {
    ref: runtimeNames,
    code: _`require(${runtimeNames.budget})`,
  });
  if (charge === "items") gen.code(_`if((${budget}.left-=${data}.length+2)<0)${budget}.look();`);
  else {
    const units = charge === "entries" ? 1 + Object.keys(Object(schema)).length : charge;
    gen.code(_`if((${budget}.left-=${units})<0)${budget}.look();`);
  }
}

function hasUsablePatterns(cxt: KeywordCxt, usable: (pattern: string) => boolean): boolean {
  const patterns: unknown = cxt.parentSchema["patternProperties"];
  return !isJsonObject(patterns) || Object.keys(patterns).every(usable);
}

/** One per schema, because its patterns also have a limit in total. */
function createPatternJudge(): (pattern: string) => boolean {
  const verdicts = new Map<string, boolean>();
  let left = totalProgramLimit;
  return (pattern) => {
    const known = verdicts.get(pattern);
    if (known !== undefined) return known;
    const cost = left > 0 ? patternCost(pattern) : undefined;
    left -= cost ?? 0;
    verdicts.set(pattern, cost !== undefined);
    return cost !== undefined;
  };
}

function nameAllowedFields(ajv: Ajv): void {
  const definition = definitionOf(ajv, "additionalProperties");
  if (definition === undefined) return;
  definition.error = {
    message: "unknown field",
    params: ({ params, parentSchema }) => {
      const properties: unknown = parentSchema?.["properties"];
      const allowed = isJsonObject(properties) ? Object.keys(properties).slice(0, namedFieldLimit) : [];
      const others = isJsonObject(parentSchema?.["patternProperties"]) ? ["..."] : [];
      return _`{additionalProperty: ${params["additionalProperty"]}, allowed: ${stringify([...allowed, ...others])}}`;
    },
  };
}

function change(ajv: Ajv, keyword: string, wrap: (emit: EmitCode) => EmitCode): void {
  const definition = definitionOf(ajv, keyword);
  if (definition !== undefined) definition.code = wrap(definition.code);
}

/** The instance's own copy of a keyword's definition. Undefined when its dialect lacks the keyword. */
function definitionOf(ajv: Ajv, keyword: string): CodeKeywordDefinition | undefined {
  const rule = ajv.RULES.all[keyword];
  if (typeof rule !== "object" || !("code" in rule.definition)) return undefined;
  return rule.definition as CodeKeywordDefinition;
}
