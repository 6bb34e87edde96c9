import { dirname, resolve } from "node:path";
import { isJsonObject, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import { refuse, type Origin } from "../../file/check.ts";
import type { WrittenSandbox } from "../../rows/sandbox-rows.ts";
import { withTexts } from "../../rows/plain-values.ts";
import { misspelledSafetyFields, parseServerEntry, type ServerEntry } from "../../entry/server-entry.ts";
import { InvalidConfig } from "../../file/problems.ts";
import { entryRows, meaninglessFields } from "../../entry/server-fields.ts";
import type { Variables } from "../../file/substitution.ts";
import { hasProcess } from "../../entry/transports.ts";
import { isProgramFile, toCommandWords } from "../../words/command-words.ts";
import type { EntryDialect } from "../table/client-row.ts";
import { respellVariables, type Spelling } from "../table/variable-spellings.ts";

/** A server's entry as it is written to our configuration. Members that say nothing are left out. */
export interface ImportedEntry {
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly envFile?: string;
  readonly cwd?: string;
  readonly type?: "sse";
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly enabled?: false;
  readonly sandbox?: boolean | WrittenSandbox;
  readonly tools?: { readonly allow?: readonly string[]; readonly deny?: readonly string[] };
}

export interface TranslatedEntry {
  readonly entry: ImportedEntry;
  /** What a person should know of it: one phrase each. */
  readonly notes: readonly string[];
}

/**
 * An entry of a client in our spelling. Throws InvalidConfig with place and path of every problem; what cannot be
 * translated exactly is a problem or a note, and never left out in silence. In particular, a field that seems meant to
 * hide tools is a problem.
 */
export function translateEntry(written: unknown, origin: Origin, how: EntrySpelling): TranslatedEntry {
  if (!isJsonObject(written)) return refuse(origin, "expected an object");
  const { shape: given, extra } = shapes[how.entries](withTexts(written, origin) as JsonObject, origin);
  const place = { directory: how.project ?? dirname(origin.document.fileName), env: how.env ?? {} };
  const isProgram = (command: string): boolean => isProgramFile(command, place);
  const words = toCommandWords(given, { isProgram, platform: process.platform });
  const shape = words?.entry ?? given;
  const { value, unknown } = respellVariables(shape, how);
  const unread = Object.keys(value as JsonObject).filter((name) => !Object.hasOwn(entryRows, name));
  const misspelled = misspelledSafetyFields(value, origin);
  if (misspelled.length > 0) throw new InvalidConfig(misspelled);
  const known = Object.fromEntries(Object.entries(value as JsonObject).filter(([name]) => !unread.includes(name)));
  const parsed = parseServerEntry(known, origin, []);
  refuseAddress(parsed, origin);
  // A remote server has no process that could be confined.
  const idle = parsed.sandbox !== undefined && !hasProcess(parsed.transport) ? ["sandbox"] : [];
  const lost = [...unread, ...extra, ...idle].filter((name) => !meaninglessFields.includes(name));
  return {
    entry: toImported(parsed, place.directory),
    notes: [
      ...(lost.length > 0 ? [`not taken over: ${lost.join(", ")}`] : []),
      ...(words?.isSplit === true ? ["its command was a whole line: taken apart into command and arguments"] : []),
      ...unknown.map((text) => `${text} is filled in by the client only: put the value in its place`),
    ],
  };
}

/** How a client writes entries and the variables in them. */
export interface EntrySpelling extends Spelling {
  readonly entries: EntryDialect;
  /** The variables by which a command is found, for one with spaces in it. Default: none, so that only paths are. */
  readonly env?: Variables;
}

interface Shape {
  /** The entry as most clients would write it. */
  readonly shape: JsonObject;
  /** Fields that the entry had and the shape has not. */
  readonly extra: readonly string[];
}

type ToShape = (entry: JsonObject, origin: Origin) => Shape;

const shapes: Readonly<Record<EntryDialect, ToShape>> = {
  common: (entry) => ({ shape: withSse(entry), extra: [] }),
  // The exact type is told by the field of the address.
  gemini: (entry) => ({ shape: entry["httpUrl"] === undefined ? withSse(entry) : entry, extra: [] }),
  cline({ transportType, ...entry }) {
    if (entry["url"] === undefined || entry["type"] !== undefined) return { shape: entry, extra: [] };
    return { shape: { ...entry, type: transportType === "http" ? "http" : "sse" }, extra: [] };
  },
  codex(written, origin) {
    const { env_vars: names, http_headers: headers, env_http_headers: named, ...others } = written;
    // Ours of that name says which values a server needs.
    const { bearer_token_env_var: bearer, required: _required, ...entry } = others;
    const forwarded = (Array.isArray(names) ? names : []).map((name) => (isJsonObject(name) ? name["name"] : name));
    const variable = (name: unknown): string => variableNamed(name, origin);
    const env = {
      ...Object.fromEntries(forwarded.map((name) => [String(name), variable(name)])),
      ...asObject(entry["env"]),
    };
    const fromVariables = Object.entries(asObject(named)).map(([header, name]) => [header, variable(name)]);
    const all = {
      ...asObject(headers),
      ...Object.fromEntries(fromVariables),
      ...(bearer === undefined ? {} : { Authorization: `Bearer ${variable(bearer)}` }),
    };
    return {
      shape: {
        ...entry,
        ...(Object.keys(env).length > 0 ? { env } : {}),
        ...(Object.keys(all).length > 0 ? { headers: all } : {}),
      },
      extra: [],
    };
  },
  kimi({ bearerTokenEnvVar: bearer, ...entry }, origin) {
    if (bearer === undefined) return { shape: withSse(entry), extra: [] };
    const headers = { ...asObject(entry["headers"]), Authorization: `Bearer ${variableNamed(bearer, origin)}` };
    return { shape: withSse({ ...entry, headers }), extra: [] };
  },
  zed({ source: _source, settings, ...entry }, origin) {
    const { command } = entry;
    if (command === undefined && entry["url"] === undefined)
      refuse(origin, "a server that comes with an extension of Zed, which nothing else can start");
    const extra = settings === undefined ? [] : ["settings"];
    if (!isJsonObject(command)) return { shape: entry, extra };
    const { path, ...rest } = command;
    return { shape: { ...entry, ...rest, command: path }, extra };
  },
  continue({ name: _name, requestOptions, ...entry }) {
    const { headers, ...others } = asObject(requestOptions);
    const extra = Object.keys(others).map((option) => `requestOptions.${option}`);
    return { shape: withSse(headers === undefined ? entry : { ...entry, headers }), extra };
  },
  opencode({ type, environment, ...entry }, origin) {
    const { command } = entry;
    const env = environment === undefined ? {} : { env: withTexts({ env: environment }, origin) };
    if (type === "remote") return { shape: withSse(entry), extra: environment === undefined ? [] : ["environment"] };
    if (!Array.isArray(command))
      return refuse(origin, "expected `command` as a list (or `type` `remote` with a `url`), as opencode writes it");
    return { shape: { ...entry, ...asObject(env.env), command: command[0], args: command.slice(1) }, extra: [] };
  },
};

/**
 * Clients that are given an address without a type try Streamable HTTP first and the older transport then. Servers with
 * the older one have addresses that end so.
 */
function withSse(entry: JsonObject): JsonObject {
  const { type, transport, url, serverUrl } = entry;
  const address = url ?? serverUrl;
  if (type !== undefined || transport !== undefined || typeof address !== "string") return entry;
  return /\/sse\/?(?:[?#]|$)/.test(address) ? { ...entry, type: "sse" } : entry;
}

function asObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** The reference to a variable that a field names. */
function variableNamed(name: unknown, origin: Origin): string {
  if (typeof name === "string" && /^[A-Za-z_]\w*$/.test(name)) return `\${${name}}`;
  return refuse(origin, "expected a name of a variable where the client takes one for a value or a token");
}

function refuseAddress({ transport }: ServerEntry, origin: Origin): void {
  if (hasProcess(transport) || transport.url.includes("${")) return;
  if (!URL.canParse(transport.url) || !/^https?:$/.test(new URL(transport.url).protocol))
    refuse({ document: origin.document, path: [...origin.path, transport.urlField] }, "expected an http(s) URL");
}

function toImported(parsed: ServerEntry, directory: string): ImportedEntry {
  const { transport, enabled, sandbox } = parsed;
  const common = { ...(enabled ? {} : { enabled: false as const }), ...toRules(parsed) };
  if (!hasProcess(transport)) {
    const { kind, url, headers } = transport;
    return {
      ...(kind === "sse" ? { type: "sse" as const } : {}),
      url,
      ...(Object.keys(headers).length > 0 ? { headers } : {}),
      ...common,
    };
  }
  const { command, args, env, envFile, cwd } = transport;
  return {
    command,
    ...(args.length > 0 ? { args } : {}),
    ...(Object.keys(env).length > 0 ? { env } : {}),
    ...(envFile === undefined ? {} : { envFile }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(sandbox === undefined ? {} : { sandbox: withWholePaths(sandbox, directory) }),
    ...common,
  };
}

/** Relative paths start at the client's file, and ours is elsewhere. */
function withWholePaths(sandbox: boolean | WrittenSandbox, directory: string): boolean | WrittenSandbox {
  if (typeof sandbox === "boolean") return sandbox;
  const whole = (paths: readonly string[]): readonly string[] =>
    paths.map((path) => (/^(?:[/~]|\$\{|file:)/i.test(path) ? path : resolve(directory, path)));
  const { read, write } = sandbox;
  return { ...sandbox, ...(read && { read: whole(read) }), ...(write && { write: whole(write) }) };
}

/** Which tools are offered. With several lists of the only ones, those that all of them have. */
function toRules(parsed: ServerEntry): Pick<ImportedEntry, "tools"> {
  const listed = Array.isArray(parsed.tools) ? (parsed.tools as readonly string[]) : undefined;
  const lists = [listed, parsed.enabledTools, parsed.enabled_tools, parsed.includeTools].filter(
    (list): list is readonly string[] => list !== undefined && !(list.length === 1 && list[0] === "*"),
  );
  const all = [...new Set(lists.flat())];
  const allow = lists.length === 0 ? undefined : all.filter((tool) => lists.every((list) => names(list, tool)));
  const deny = [...(parsed.disabledTools ?? []), ...(parsed.disabled_tools ?? []), ...(parsed.excludeTools ?? [])];
  if (allow === undefined && deny.length === 0) return {};
  return { tools: { ...(allow === undefined ? {} : { allow }), ...(deny.length > 0 ? { deny } : {}) } };
}

/** Whether a list has this tool, or a pattern that covers it. */
function names(list: readonly string[], tool: string): boolean {
  return list.some((pattern) => {
    const [first = "", ...rest] = pattern.split("*");
    const last = rest.pop();
    if (last === undefined) return pattern === tool;
    if (!tool.startsWith(first) || !tool.endsWith(last) || tool.length < first.length + last.length) return false;
    let at = first.length;
    for (const part of rest) {
      const found = tool.indexOf(part, at);
      if (found === -1 || found + part.length > tool.length - last.length) return false;
      at = found + part.length;
    }
    return true;
  });
}
