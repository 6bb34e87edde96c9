import { transports } from "../transports.ts";
import type { ClientRow } from "./client-row.ts";

/** How a client reaches the gateway. */
export type OwnWay =
  /** `token` is a bearer token, where the gateway wants one. */
  | { readonly kind: "url"; readonly url: string; readonly token?: string | undefined }
  | { readonly kind: "command"; readonly command: string; readonly args: readonly string[] };

export type OwnEntry = Readonly<Record<string, unknown>>;

/** Our entry as this client writes entries. The client must be able to do HTTP where the way is that. */
export function toOwnEntry(row: ClientRow, name: string, way: OwnWay): OwnEntry {
  const named = row.entries === "continue" ? { name } : {};
  return { ...named, ...(way.kind === "url" ? toHttpEntry(row, way) : toStdioEntry(row, way)) };
}

function toHttpEntry({ http, entries }: ClientRow, { url, token }: Extract<OwnWay, { kind: "url" }>): OwnEntry {
  if (http === undefined) throw new Error("the client starts commands only");
  const { addressField, type, headersField } = http;
  const headers = { Authorization: `Bearer ${token ?? ""}` };
  return {
    ...(type === undefined ? {} : { type }),
    [addressField]: url,
    ...(token === undefined || headersField === undefined
      ? {}
      : { [headersField]: headersField === "requestOptions" ? { headers } : headers }),
    ...(entries === "opencode" ? { enabled: true } : {}),
  };
}

function toStdioEntry(row: ClientRow, { command, args }: Extract<OwnWay, { kind: "command" }>): OwnEntry {
  if (row.entries === "opencode") return { type: "local", command: [command, ...args], enabled: true };
  return { ...(row.id === "vscode" ? { type: transports.stdio.spellings[0] } : {}), command, args };
}

/** The bearer token of an entry of ours; undefined where it has none. */
export function tokenIn({ http }: ClientRow, entry: OwnEntry): string | undefined {
  const field = entry[http?.headersField ?? "headers"] as Readonly<Record<string, unknown>> | undefined;
  const headers = http?.headersField === "requestOptions" ? field?.["headers"] : field;
  const value = (headers as Readonly<Record<string, unknown>> | undefined)?.["Authorization"];
  return typeof value === "string" ? /^Bearer (\S+)$/.exec(value)?.[1] : undefined;
}
