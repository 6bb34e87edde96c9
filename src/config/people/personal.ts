import {
  type HttpTransport,
  type ServerConfig,
  type ServerOverrides,
  type StdioTransport,
  type Transport,
  deepFreeze,
  type Config,
} from "../config.ts";
import { refillEntry } from "../entry/entry-variables.ts";
import { hashTransport } from "../file/hash.ts";
import { allowOverrides } from "./member-rules.ts";
import { hasProcess } from "../entry/transports.ts";
import { isJsonObject } from "../../kernel/text/json-bytes.ts";
import { parseDocument } from "../file/document.ts";
import { buildServers } from "../entry/servers.ts";
import { findServers } from "../file/source.ts";

export interface PersonalServer {
  /** The server as it runs for this principal: template < team < user, with its own hash. */
  readonly server: ServerConfig;
  /** Paths such as `env.TOKEN` that somebody must fill in first. Nothing is started while there are any. */
  readonly missing: readonly string[];
  /** Paths of overrides that were left out because a member may not set them. */
  readonly ignored: readonly string[];
}

/** What a person and that person's team have set for one server. */
export interface PersonalValues {
  readonly team: ServerOverrides | undefined;
  readonly user: ServerOverrides | undefined;
  /** Whether no people are configured, so that the template's values count as those of its only user. */
  readonly isOnlyUser: boolean;
}

const none: ServerOverrides = Object.freeze({});

/**
 * Merges a server's configuration for one principal. `env` and `headers` are merged by name (headers without regard
 * to case); the user's values override the team's, and the team's the template's. `args` are appended: template,
 * team, user. A value that `required.user` names must come from the user's own overrides, and one that
 * `required.team` names from the team's or the user's, so that no person works with another's secret by mistake. Only
 * where no principals are configured may the template supply them. Pure; never throws.
 */
export function personalServer(server: ServerConfig, values: PersonalValues): PersonalServer {
  const { team: teamOverrides = none, user: userOverrides = none, isOnlyUser } = values;
  const team = allowOverrides(server.transport, teamOverrides);
  const user = allowOverrides(server.transport, userOverrides);

  const { transport: refilled, missing: unfilled } = refillLevels(server, [team, user]);
  const transport = mergeLevels(refilled ?? server.transport, [team, user]);
  const template = isOnlyUser ? [server.transport] : [];
  const missing = [
    ...server.required.user.filter((path) => ![user, ...template].some((source) => has(source, path))),
    ...server.required.team.filter((path) => ![team, user, ...template].some((source) => has(source, path))),
    ...(userOverrides.missing ?? []),
    ...(teamOverrides.missing ?? []).filter((path) => !has(user, path)),
    ...unfilled,
  ];
  return deepFreeze({
    server: { ...server, transport, hash: hashTransport(transport, server.roots) },
    missing: [...new Set(missing)],
    ignored: [...new Set([...team.ignored, ...user.ignored])],
  });
}

/**
 * The template's transport with its arguments and variables as they are with the values of these levels: its
 * `--token=${TOKEN}` means the token that a level gives. Undefined where nothing refers to any such variable. `missing`
 * has the paths of variables without a value. Values that a level gives are never searched for variables.
 *
 * @param other values that come first, by the name of the variable
 */
export function refillLevels(
  { transport, refill }: ServerConfig,
  levels: readonly ServerOverrides[],
  other: (name: string) => string | undefined = () => undefined,
): { readonly transport: StdioTransport | undefined; readonly missing: readonly string[] } {
  if (refill === undefined || !hasProcess(transport)) return { transport: undefined, missing: [] };
  const given = Object.assign({}, ...levels.map(({ env }) => env)) as Readonly<Record<string, string>>;
  const { args, env, missing } = refillEntry(
    refill,
    (name) => other(name) ?? (Object.hasOwn(given, name) ? given[name] : undefined),
  );
  return { transport: { ...transport, args, env }, missing: missing.map((name) => `env.${name}`) };
}

/** The template with what each level sets; a later one takes the place of an earlier one. */
export function mergeLevels(template: Transport, levels: readonly ServerOverrides[]): Transport {
  return hasProcess(template) ? mergeStdio(template, levels) : mergeHttp(template, levels);
}

function mergeStdio(template: StdioTransport, levels: readonly ServerOverrides[]): StdioTransport {
  return {
    ...template,
    args: [...template.args, ...levels.flatMap((level) => level.args ?? [])],
    env: Object.assign({}, template.env, ...levels.map((level) => level.env)) as Record<string, string>,
  };
}

function mergeHttp(template: HttpTransport, levels: readonly ServerOverrides[]): HttpTransport {
  return {
    ...template,
    headers: levels.reduce((headers, level) => withHeaders(headers, level.headers ?? {}), template.headers),
  };
}

/** Compared without regard to case, because a header in two spellings would be sent twice. */
function withHeaders(
  headers: Readonly<Record<string, string>>,
  more: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const replaced = new Set(Object.keys(more).map((name) => name.toLowerCase()));
  const kept = Object.entries(headers).filter(([name]) => !replaced.has(name.toLowerCase()));
  return { ...Object.fromEntries(kept), ...more };
}

interface Values {
  readonly env?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Whether `env.NAME` or `headers.NAME` is present and not empty. */
function has(values: Values, path: string): boolean {
  const dot = path.indexOf(".");
  const name = path.slice(dot + 1);
  if (path.slice(0, dot) === "env") return Boolean(values.env && Object.hasOwn(values.env, name) && values.env[name]);
  return Object.entries(values.headers ?? {}).some(
    ([header, value]) => header.toLowerCase() === name.toLowerCase() && value !== "",
  );
}

/** What a template's entry means. */
export interface TemplateServer {
  readonly server: ServerConfig;
  /** Oddities in it, and everything that is wrong. */
  readonly problems: readonly string[];
}

export interface TemplateSurroundings {
  readonly inherited: NonNullable<Config["inherited"]>;
  readonly directory: string;
  readonly fields: unknown;
}

/**
 * Builds the server of a template: an entry as in `mcpServers`, but not of the file. Variables of the gateway's
 * environment are not filled in, because the author of a template is not always the owner of the gateway;
 * `envFile` neither. Pure.
 *
 * @param template `directory` is absolute, and relative paths start there; `fields` are as they were written: variables
 * that they name may be missing
 */
export function buildTemplateServer(
  key: string,
  entry: unknown,
  { inherited, directory, fields }: TemplateSurroundings,
): TemplateServer | undefined {
  const document = parseDocument(JSON.stringify({ mcpServers: { [key]: entry } }), "(template)");
  const { defaults, facts } = inherited;
  const source = {
    document,
    directory,
    variables: {},
    predefined: {},
    envFiles: new Map(),
    inherited: defaults,
    facts,
    later: variableNames(fields),
  };
  const { servers, problems, warnings } = buildServers(findServers(document), source);
  const [server] = servers;
  return server && { server, problems: [...problems, ...warnings] };
}

/** Variables that a template's fields ask for. The fields need not be right. */
function variableNames(fields: unknown): readonly string[] {
  const paths = Array.isArray(fields) ? fields.map((field: unknown) => (isJsonObject(field) ? field["path"] : "")) : [];
  return paths.flatMap((path) => (typeof path === "string" && path.startsWith("env.") ? [path.slice(4)] : []));
}
