import * as v from "valibot";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { isProcessKind, type TransportKind } from "../entry/transports.ts";

/** Who may give a value: the template's author alone, the team, or also each member. */
export const tiers = ["template", "team", "user"] as const;
export type Tier = (typeof tiers)[number];

/** One value of a server that its template asks for. */
export interface TierField {
  /** `env.NAME`, `headers.NAME`, `query.NAME`, `args.NAME`, or `args` for any further arguments. */
  readonly path: string;
  /** The last tier that may give it; those before it may, too. */
  readonly tier: Tier;
  readonly type: "string" | "secret" | "number" | "boolean" | "enum";
  /** Nothing starts without it. One of the tier `user` has to come from each person, never from the team. */
  readonly required: boolean;
  /** Only the template decides. */
  readonly locked: boolean;
  /** Whether members see it. */
  readonly visible: boolean;
  readonly default?: string | undefined;
  readonly description?: string | undefined;
  readonly enum?: readonly string[] | undefined;
  /** Of `args.NAME`: the word before the value. A boolean is the flag alone, or nothing. */
  readonly flag?: string | undefined;
}

/** What one tier gives, by path: a text, or for `args` a list. Secrets stand in the vault instead. */
export type TierValues = Readonly<Record<string, string | readonly string[]>>;

/** A line break would begin another header. */
const headerText = /^[\t\x20-\x7e\x80-\uffff]*$/;
/** Linux takes 128 KB for one variable or argument; many of these have to fit. */
const longestValue = 32_768;
/** They would not become data where values are put together. */
const neverNames: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);
/** Of one server. A form with more would not be filled in. */
const mostFields = 100;
const mostArgs = 100;

const pathPattern =
  /^(?:env\.[^=\0]{1,200}|headers\.[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}|query\.[^\0]{1,200}|args(?:\.[\w-]{1,100})?)$/;
const shortText = v.pipe(v.string(), v.maxLength(1_000));

const fieldSchema = v.strictObject({
  path: v.pipe(v.string(), v.regex(pathPattern, "expected env.NAME, headers.NAME, query.NAME, args.NAME or args")),
  tier: v.optional(v.picklist(tiers), "user"),
  type: v.optional(v.picklist(["string", "secret", "number", "boolean", "enum"]), "string"),
  required: v.optional(v.boolean(), false),
  locked: v.optional(v.boolean(), false),
  visible: v.optional(v.boolean(), true),
  default: v.optional(v.pipe(v.string(), v.maxLength(longestValue))),
  description: v.optional(shortText),
  enum: v.optional(v.pipe(v.array(shortText), v.minLength(1), v.maxLength(200))),
  flag: v.optional(shortText),
});
const fieldsSchema = v.pipe(v.array(fieldSchema), v.maxLength(mostFields));

/** Checks the fields of a template for a server of this kind. Throws VALUE_REFUSED, which names the field. */
export function parseTierFields(written: unknown, kind: TransportKind): readonly TierField[] {
  const parsed = v.safeParse(fieldsSchema, written, { abortEarly: true });
  if (!parsed.success) {
    const [issue] = parsed.issues;
    throw refused(`fields.${issue.path?.map(({ key }) => String(key)).join(".") ?? ""}: ${issue.message}`);
  }
  const seen = new Set<string>();
  for (const field of parsed.output) {
    const problem = problemOfField(field, kind);
    if (problem !== undefined) throw refused(`${field.path}: ${problem}`);
    if (seen.has(pathKey(field.path))) throw refused(`${field.path}: there are two fields of this path`);
    seen.add(pathKey(field.path));
  }
  return parsed.output;
}

function problemOfField(field: TierField, kind: TransportKind): string | undefined {
  const part = partOf(field.path);
  if (neverNames.has(nameOf(field.path).toLowerCase())) return "a value cannot have this name";
  const isOfProcess = part === "env" || part === "args";
  if (isOfProcess !== isProcessKind(kind))
    return isOfProcess ? "only a process has it" : "only a server with an address has it";
  if (field.path === "args" && (field.type !== "string" || field.required || field.default !== undefined))
    return "further arguments are optional texts";
  if (field.flag !== undefined && part !== "args") return "only an argument has a flag";
  if ((field.type === "enum") !== (field.enum !== undefined)) return "a field has the type enum where it has `enum`";
  if (field.type === "secret" && field.default !== undefined && !/\$\{secret:/.test(field.default))
    return "everybody could read a secret's default: refer to one of the team, as ${secret:NAME}";
  return field.default === undefined ? undefined : problemOfText(field, field.default, "template");
}

/** `env`, `headers`, `query` or `args`. */
export function partOf(path: string): string {
  return path.split(".", 1)[0] ?? "";
}

/** The path behind the part: the name of a variable, header or parameter. */
export function nameOf(path: string): string {
  return path.slice(partOf(path).length + 1);
}

/** Equal for paths that mean the same: headers have no case. */
export function pathKey(path: string): string {
  return partOf(path) === "headers" ? path.toLowerCase() : path;
}

/** Why a field does not take this value; undefined when it does. Never repeats the value. */
export function problemOfValue(field: TierField, value: string | readonly string[], tier: Tier): string | undefined {
  if (field.path !== "args") return typeof value === "string" ? problemOfText(field, value, tier) : "expected one text";
  if (typeof value === "string" || value.length > mostArgs) return `expected a list of at most ${mostArgs} texts`;
  return value.map((text) => problemOfText(field, text, tier)).find((problem) => problem !== undefined);
}

function problemOfText({ path, type, enum: choices }: TierField, value: string, tier: Tier): string | undefined {
  if (value.length > longestValue) return `a value has at most ${longestValue} characters`;
  if (value.includes("\0")) return "a value has no NUL";
  if (partOf(path) === "headers" && !headerText.test(value)) return "a header has no line breaks or control characters";
  // What a secret of the team holds is not known here. A member names none.
  if (tier !== "user" && /\$\{secret:/.test(value)) return undefined;
  if (type === "number" && (value.trim() === "" || !Number.isFinite(Number(value)))) return "expected a number";
  if (type === "boolean" && value !== "true" && value !== "false") return "expected true or false";
  if (type === "enum" && choices?.includes(value) !== true) return `expected one of ${choices?.join(", ") ?? ""}`;
  return undefined;
}

function refused(message: string): GatewayError {
  return new GatewayError("VALUE_REFUSED", message.slice(0, 500));
}
