import { isJsonObject } from "../../../kernel/text/json-bytes.ts";
import { transports } from "../../entry/transports.ts";
import type { ClientRow } from "../table/client-row.ts";

/** How a client reaches the gateway. */
export type OwnWay =
  /** `token` is a bearer token, where the gateway wants one. */
  | { readonly kind: "url"; readonly url: string; readonly token?: string | undefined }
  | { readonly kind: "command"; readonly command: string; readonly args: readonly string[] };

export type OwnEntry = Readonly<Record<string, unknown>>;

/** Fields of any client that say how a server is reached, or that keep its tools from the model. */
const replaced: ReadonlySet<string> = new Set([
  ...["name", "source", "type", "transport", "transportType", "url", "serverUrl", "httpUrl", "command", "args"],
  ...["headers", "http_headers", "env_http_headers", "bearer_token_env_var", "bearerTokenEnvVar", "requestOptions"],
  ...["enabled", "disabled", "required", "deferTools", "deferred", "alwaysLoad", "alwaysLoadTools"],
]);
/** What belongs to a process. */
const ofCommand: ReadonlySet<string> = new Set(["env", "environment", "env_vars", "envFile", "cwd"]);

/**
 * Our entry as this client writes entries. The client must be able to do HTTP where the way is that. Of the entry that
 * is there, what does not concern us stays: time limits, approvals, trust.
 */
export function toOwnEntry(row: ClientRow, name: string, way: OwnWay, before: OwnEntry = {}): OwnEntry {
  const isCommand = way.kind === "command";
  const own = {
    ...(row.entries === "continue" ? { name } : {}),
    ...(isCommand ? toStdioEntry(row, way) : toHttpEntry(row, way)),
    ...row.ownFields,
    ...(isCommand ? row.commandFields : {}),
  };
  const kept = Object.entries(before).filter(([field]) => !replaced.has(field) && (isCommand || !ofCommand.has(field)));
  const others = Object.fromEntries(kept.filter(([field]) => !Object.hasOwn(own, field)));
  return { ...others, ...own, ...ownLimit(row, before) };
}

/** As long as a call may take here (`instances.maxCallTimeoutMs`), where the client's own limit is less. */
function ownLimit({ limits }: ClientRow, before: OwnEntry): OwnEntry {
  const call = limits?.call;
  if (call?.isShort !== true || Object.hasOwn(before, call.field)) return {};
  return { [call.field]: longestCallMs / call.unitMs };
}

const longestCallMs = 3_600_000;

function toHttpEntry({ http, entries }: ClientRow, { url, token }: Extract<OwnWay, { kind: "url" }>): OwnEntry {
  if (http === undefined) throw new Error("the client starts commands only");
  const { addressField, type, headersField } = http;
  const headers = { Authorization: `Bearer ${token ?? ""}` };
  return {
    ...(type === undefined ? {} : { type }),
    [addressField]: url,
    ...(token === undefined ? {} : { [headersField]: headersField === "requestOptions" ? { headers } : headers }),
    ...(entries === "opencode" ? { enabled: true } : {}),
  };
}

function toStdioEntry(row: ClientRow, { command, args }: Extract<OwnWay, { kind: "command" }>): OwnEntry {
  if (row.entries === "opencode") return { type: "local", command: [command, ...args], enabled: true };
  return { ...(row.id === "vscode" ? { type: transports.stdio.spellings[0] } : {}), command, args };
}

/** The bearer token of an entry of ours; undefined where it has none. */
export function tokenIn({ http }: ClientRow, entry: OwnEntry): string | undefined {
  const field = entry[http?.headersField ?? "headers"];
  const headers = http?.headersField === "requestOptions" && isJsonObject(field) ? field["headers"] : field;
  const value = isJsonObject(headers) ? headers["Authorization"] : undefined;
  return typeof value === "string" ? /^Bearer (\S+)$/.exec(value)?.[1] : undefined;
}

/** What a client calls the tools of the server with this name together. */
export function toolNamespace(name: string): string {
  return `mcp__${name.replace(/[^A-Za-z0-9_]/g, "_")}`;
}
