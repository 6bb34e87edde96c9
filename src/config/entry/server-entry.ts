import { isJsonObject } from "../../kernel/text/json-bytes.ts";
import type { TlsFiles } from "../config.ts";
import { check, problemAt, refuse, unknownFields, type Origin, isRecord, membersOf } from "../file/check.ts";
import { createProblems, InvalidConfig } from "../file/problems.ts";
import { withTexts } from "../rows/plain-values.ts";
import {
  isProcessKind,
  kindChoices,
  kindNamed,
  transports,
  type ProcessKind,
  type RemoteKind,
  type TransportKind,
} from "./transports.ts";
import { schemaOf } from "../rows/row-reading.ts";
import {
  entryRows,
  listedTools,
  meaninglessFields,
  type foreignTransportFields,
  type transportFields,
  foreignToolFields,
  ownTools,
} from "./server-fields.ts";
import type { Written } from "../rows/setting-row.ts";
import { nearestName } from "../file/near-miss.ts";
import * as v from "valibot";

const entrySchema = schemaOf(entryRows);
const listedToolsSchema = schemaOf({ ...entryRows, tools: listedTools });

type WrittenEntry = Omit<Written<typeof entryRows>, "tools"> & {
  readonly tools?: Written<typeof entryRows>["tools"] | readonly string[];
};
type WrittenTransport = keyof typeof transportFields | keyof typeof foreignTransportFields;

/**
 * One entry in our own spelling, whichever client it was written for. Nothing is resolved and no default is applied
 * yet.
 */
export interface ServerEntry extends Omit<WrittenEntry, WrittenTransport> {
  readonly enabled: boolean;
  readonly transport:
    | {
        readonly kind: ProcessKind;
        readonly command: string;
        readonly args: readonly string[];
        readonly env: Readonly<Record<string, string>>;
        readonly envFile: string | undefined;
        readonly cwd: string | undefined;
      }
    | {
        readonly kind: RemoteKind;
        readonly url: string;
        readonly urlField: AddressField;
        /** Every address, where `urls` names them. */
        readonly urls: readonly string[] | undefined;
        readonly headers: Readonly<Record<string, string>>;
        readonly proxy: string | false | undefined;
        readonly tls: TlsFiles | undefined;
      };
}

/**
 * Checks one entry and converts it to our own spelling, whichever client it was written for. Throws InvalidConfig
 * with place and path of every problem, which includes misspelled fields that were meant to hide something. Other
 * unknown fields become warnings.
 */
export function parseServerEntry(value: unknown, origin: Origin, warnings: string[]): ServerEntry {
  const plain = withoutAbsent(schemaFor(value), withTexts(value, origin));
  const problems = createProblems();
  const written = problems.attempt(() => checkEntry(plain, origin, warnings));
  const kind = problems.attempt(() => kindOf(plain, origin));
  problems.refuseAny();
  const {
    type: _type,
    transport: _transport,
    command,
    args,
    env,
    envFile,
    cwd,
    ...afterProcess
  } = written as WrittenEntry;
  const { url, urls, serverUrl, httpUrl, headers: given, proxy, tls, disabled, enabled, ...rest } = afterProcess;
  const common = { ...rest, enabled: enabled !== false && disabled !== true };
  if (kind !== undefined && isProcessKind(kind)) {
    for (const field of ["proxy", "tls"] as const)
      if (written?.[field] !== undefined)
        warnings.push(withoutEffect(origin, field, "only a server with a `url` is reached over the network"));
    return { ...common, transport: { kind, command: command ?? "", args: args ?? [], env: env ?? {}, envFile, cwd } };
  }
  if (written?.sandbox !== undefined)
    warnings.push(withoutEffect(origin, "sandbox", "only a process on this machine can be confined"));
  const field = addressField({ urls, httpUrl, url, serverUrl }) ?? "url";
  return {
    ...common,
    transport: {
      kind: kind ?? "http",
      url: { httpUrl, url, serverUrl, urls: urls?.[0] }[field] ?? "",
      urlField: field,
      urls,
      headers: given ?? {},
      proxy,
      tls: tls && definedOnly(tls),
    },
  };
}

function withoutEffect(origin: Origin, field: string, why: string): string {
  return problemAt({ document: origin.document, path: [...origin.path, field] }, `has no effect here: ${why}`);
}

function definedOnly(tls: object): TlsFiles {
  return Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined));
}

function checkEntry(value: unknown, origin: Origin, warnings: string[]): WrittenEntry {
  const schema = schemaFor(value);
  const written = check(schema, value, origin);
  const misspelled = misspelledSafetyFields(value, origin);
  if (misspelled.length > 0) throw new InvalidConfig(misspelled);
  warnings.push(...unknownFields(schema, value, origin, meaninglessFields));
  return written;
}

function schemaFor(value: unknown): typeof entrySchema | typeof listedToolsSchema {
  return isJsonObject(value) && Array.isArray(value["tools"]) ? listedToolsSchema : entrySchema;
}

/**
 * Gemini writes `httpUrl`, Windsurf `serverUrl`, the others `url`. If there are several, `httpUrl` wins, as in
 * Gemini. Our own `urls` comes with none of them.
 */
function addressField(fields: object): AddressField | undefined {
  return addressFields.find((field) => isThere(fields, field));
}

const addressFields = ["urls", "httpUrl", "url", "serverUrl"] as const;
type AddressField = (typeof addressFields)[number];

function isThere(fields: object, name: string): boolean {
  return (fields as Readonly<Record<string, unknown>>)[name] !== undefined;
}

/** Only looks at which fields are present, so that the result can be reported together with problems in them. */
function kindOf(value: unknown, origin: Origin): TransportKind | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const { type, transport } = value as { readonly type?: unknown; readonly transport?: unknown };
  const hasCommand = isThere(value, "command");
  const address = addressField(value);
  const hasAddress = address !== undefined;
  if (address === "urls" && addressFields.some((field) => field !== "urls" && isThere(value, field)))
    return refuse(origin, "expected either `url` or `urls`, not both");
  const named = type ?? transport;
  if (named === undefined) return impliedKind(hasCommand, hasAddress, origin);
  if (typeof named !== "string") return undefined;
  const path = [...origin.path, type === undefined ? "transport" : "type"];
  const kind = kindNamed(named) ?? refuse({ document: origin.document, path }, `expected ${kindChoices()}`);
  if (isProcessKind(kind) ? hasCommand : hasAddress) return kind;
  const field = isProcessKind(kind) ? "command" : "url";
  return refuse(origin, `expected \`${field}\`, because this is ${transports[kind].label} server`);
}

function impliedKind(hasCommand: boolean, hasAddress: boolean, origin: Origin): "stdio" | "http" {
  if (hasCommand && hasAddress)
    return refuse(origin, "expected either `command` or `url`, not both (or say which with `type`)");
  if (hasCommand) return "stdio";
  return hasAddress ? "http" : refuse(origin, "expected `command` (a process) or `url` (a remote server)");
}

/** Fields that take something away from clients: read as anything else, they leave open what was meant to be hidden. */
const toolFields = ["tools", "annotations", "definitions", ...Object.keys(foreignToolFields)];
/** With the value that takes nothing away. */
const switches: Readonly<Record<string, boolean>> = { enabled: true, disabled: false };

/** What people call a list of tools that are offered, or are not: `denyTools`, `allowed_tools`, `toolBlacklist`. */
const word =
  "allow(?:ed)?|den(?:y|ied)|enabled?|disabled?|includ(?:e|ed)|exclud(?:e|ed)|block(?:ed)?|forbid(?:den)?|hid(?:e|den)|(?:white|black|allow|deny|block)list";
const toolListName = new RegExp(`^(?:(?:${word})tools?|tools?(?:${word}))(?:s|list)?$`);

/**
 * Fields of an entry that nothing reads and that were, by their names, meant to hide tools or the whole server. Each is
 * a problem, which disables the entry: a warning in a log would leave open what somebody believes to be closed.
 */
export function misspelledSafetyFields(entry: unknown, origin: Origin): readonly string[] {
  if (!isJsonObject(entry)) return [];
  const unread = Object.keys(entry).filter(
    (name) => !Object.hasOwn(entryRows, name) && !meaninglessFields.includes(name),
  );
  const problems = unread.flatMap((name) => {
    const meant = meantField(name, entry[name]);
    return meant === undefined ? [] : [problemOf(origin, [name], meant)];
  });
  return [...problems, ...misspelledRules(entry["tools"], origin)];
}

/** The field in whose place `name` seems to stand: a list of tools, or the switch of the server. */
function meantField(name: string, value: unknown): string | undefined {
  const nearest = nearestName(name, Object.keys(entryRows));
  if (nearest !== undefined && Object.hasOwn(switches, nearest))
    return value === switches[nearest] ? undefined : `\`${nearest}\``;
  if (nearest !== undefined && [...toolFields, "sandbox"].includes(nearest)) return `\`${nearest}\``;
  const plain = name.toLowerCase().replace(/[^a-z]/g, "");
  return toolListName.test(plain) ? "`tools.allow` or `tools.deny`" : undefined;
}

/** An object under another name is another client's setting of one tool. */
function misspelledRules(tools: unknown, origin: Origin): readonly string[] {
  if (!isJsonObject(tools)) return [];
  return Object.entries(tools)
    .filter(([name, value]) => !Object.hasOwn(ownTools, name) && !isJsonObject(value))
    .map(([name]) => problemOf(origin, ["tools", name], "`allow`, `deny` or `ask`"));
}

function problemOf({ document, path }: Origin, below: readonly string[], meant: string): string {
  const why = `nothing reads this field, and it seems to be meant to hide something; did you mean ${meant}?`;
  return problemAt({ document, path: [...path, ...below] }, why);
}

/**
 * A value without the members that other programs write where there is nothing: null at any depth; an empty text where
 * the schema has a member; and an empty list or object where the schema has something else (PHP writes `[]` for `{}`).
 * An empty object in place of a list is an empty list (Lua writes that), which for a list of tools is not the same as
 * none. Members under names that the user chooses, as under `env`, may be empty texts. Items of lists stay. Pure.
 */
function withoutAbsent(schema: v.GenericSchema, value: unknown): unknown {
  const memberOf = membersOf(schema);
  if (!isJsonObject(value)) return value;
  const kept = Object.create(null) as Record<string, unknown>;
  for (const [name, member] of Object.entries(value)) {
    const known = memberOf?.(name);
    if (member === null || (known !== undefined && !isRecord(schema) && isNothing(known, member))) continue;
    kept[name] = known === undefined ? member : isEmptyList(known, member) ? [] : withoutAbsent(known, member);
  }
  return kept;
}

function isNothing(schema: v.GenericSchema, value: unknown): boolean {
  if (value === "") return true;
  if (Array.isArray(value)) return value.length === 0 && (membersOf(schema) !== undefined || !v.is(schema, value));
  return isEmpty(value) && !v.is(schema, value) && !isEmptyList(schema, value);
}

function isEmptyList(schema: v.GenericSchema, value: unknown): boolean {
  return isEmpty(value) && membersOf(schema) === undefined && v.is(schema, []);
}

function isEmpty(value: unknown): boolean {
  return isJsonObject(value) && Object.keys(value).length === 0;
}
