import type { Options } from "ajv";
import standalone from "ajv/dist/standalone/index.js";
import { isJsonObject, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import { dialectsOf, isDraft04, type Dialect } from "../formats/dialects.ts";
import { createFormatSearch } from "../formats/format-search.ts";
import { guardKeywords } from "./guards.ts";
import { inlinedKeywords } from "../plain/plain-keywords.ts";
import { runtimeNames } from "../runtime.ts";

export type Compiled =
  | { readonly kind: "code"; readonly code: string }
  | { readonly kind: "unvalidated"; readonly reason: string };

/**
 * Compiles one JSON Schema to the text of a CommonJS module that exports its validator, with Ajv. Runs in the worker:
 * this may take seconds and megabytes. Never fetches a `$ref`; never throws.
 *
 * @param text the schema as JSON
 * @param codeLimit characters of code beyond which the schema stays unvalidated
 */
export function compileSchema(text: string, codeLimit: number): Compiled {
  const schema: unknown = JSON.parse(text);
  if (!isJsonObject(schema)) return { kind: "unvalidated", reason: "the schema is no object" };
  const danger = findDanger(schema);
  if (danger !== undefined) return { kind: "unvalidated", reason: danger };
  const dialects = dialectsOf(schema);
  let reason = "its $schema names an unknown dialect";
  for (const dialect of dialects) {
    try {
      const code = compileAs(dialect, schema);
      if (code.length <= codeLimit) return { kind: "code", code };
      return { kind: "unvalidated", reason: `its validator would have more than ${codeLimit} characters` };
    } catch (error) {
      // The complaint of the first dialect is the one to report.
      if (dialect === dialects[0]) reason = error instanceof Error ? error.message.slice(0, 300) : String(error);
    }
  }
  return { kind: "unvalidated", reason };
}

function compileAs(dialect: Dialect, schema: JsonObject): string {
  const draft04 = isDraft04(schema);
  // The root's own `id` in draft-04 does not affect local references. Any other `id` makes Ajv refuse the schema.
  const dropped = draft04 ? ["$schema", "id"] : ["$schema"];
  const rest = Object.fromEntries(Object.entries(schema).filter(([key]) => !dropped.includes(key)));
  const ajv = dialect.create(ajvOptions());
  guardKeywords(ajv, { isDraft04: draft04, namesFormat: createFormatSearch(rest) });
  return standalone.default(ajv, ajv.compile(rest));
}

function ajvOptions(): Options {
  return {
    strict: false,
    // Inherited names do not count as members: `{}` has no `constructor`, whatever a schema requires.
    ownProperties: true,
    allErrors: false,
    messages: false,
    // The meta-schema would refuse a whole schema because of one repeated name. The form of each keyword is checked
    // all the same.
    meta: false,
    validateSchema: false,
    // An annotation, in every dialect: the server decides.
    validateFormats: false,
    logger: false,
    inlineRefs: inlinedKeywords,
    // Ajv's optimizer takes quadratic time and makes the code only a tenth shorter.
    code: {
      source: true,
      optimize: false,
      regExp: patternStandIn(),
    },
  };
}

/**
 * Nothing is matched in the worker. The code that it writes gets its matchers from the runtime of the main thread.
 */
function patternStandIn(): NonNullable<NonNullable<Options["code"]>["regExp"]> {
  const create = (pattern: string) => ({ test: () => true, toString: () => pattern });
  return Object.assign(create, { code: `require(${JSON.stringify(runtimeNames.matcher)})` });
}

/**
 * Finds keywords that are dangerous. Ajv writes `$id` into a comment of its code without escaping the comment's end,
 * so that a hostile one would run as code both here and in the gateway. `$async` makes a validator that returns a
 * promise. Both are searched for everywhere, because any place of a schema may be reached through a `$ref`.
 */
function findDanger(root: JsonObject): string | undefined {
  const stack: unknown[] = [root];
  while (stack.length > 0) {
    const value = stack.pop();
    if (typeof value !== "object" || value === null) continue;
    if (Object.hasOwn(value, "$async")) return "it uses $async";
    if (Object.hasOwn(value, "$id") && endsComment((value as JsonObject)["$id"])) return "its $id is no URI";
    // Pushed one by one, because a function cannot be called with a hundred thousand arguments.
    for (const member of Object.values(value)) stack.push(member);
  }
  return undefined;
}

function endsComment(id: unknown): boolean {
  return JSON.stringify(id).includes("*/");
}
