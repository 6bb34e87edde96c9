import { isJsonObject } from "../../kernel/text/json-bytes.ts";
import { withoutAbsent } from "../file/absent-members.ts";
import type { TlsFiles } from "../config.ts";
import { check, problemAt, refuse, unknownFields, type Origin } from "../file/check.ts";
import { createProblems, InvalidConfig } from "../file/problems.ts";
import { misspelledSafetyFields } from "./safety-fields.ts";
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
} from "./server-fields.ts";
import type { Written } from "../rows/setting-row.ts";

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
        readonly urlField: "url" | "serverUrl" | "httpUrl";
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
  const { url, serverUrl, httpUrl, headers: given, proxy, tls, disabled, enabled, ...rest } = afterProcess;
  const common = { ...rest, enabled: enabled !== false && disabled !== true };
  if (kind !== undefined && isProcessKind(kind)) {
    for (const field of ["proxy", "tls"] as const)
      if (written?.[field] !== undefined)
        warnings.push(withoutEffect(origin, field, "only a server with a `url` is reached over the network"));
    return { ...common, transport: { kind, command: command ?? "", args: args ?? [], env: env ?? {}, envFile, cwd } };
  }
  const field = addressField({ httpUrl, url, serverUrl }) ?? "url";
  return {
    ...common,
    transport: {
      kind: kind ?? "http",
      url: { httpUrl, url, serverUrl }[field] ?? "",
      urlField: field,
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
 * Gemini.
 */
function addressField(fields: object): "httpUrl" | "url" | "serverUrl" | undefined {
  return (["httpUrl", "url", "serverUrl"] as const).find((field) => isThere(fields, field));
}

function isThere(fields: object, name: string): boolean {
  return (fields as Readonly<Record<string, unknown>>)[name] !== undefined;
}

/** Only looks at which fields are present, so that the result can be reported together with problems in them. */
function kindOf(value: unknown, origin: Origin): TransportKind | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const { type, transport } = value as { readonly type?: unknown; readonly transport?: unknown };
  const hasCommand = isThere(value, "command");
  const hasAddress = addressField(value) !== undefined;
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
