import type { HttpTransport, ServerConfig, ServerOverrides, StdioTransport, Transport } from "./config.ts";
import { deepFreeze } from "./freeze.ts";
import { hashTransport } from "./hash.ts";
import { allowOverrides } from "./member-rules.ts";
import { hasProcess } from "./transports.ts";

export interface PersonalServer {
  /** The server as it is run for this principal: template < team < user, with a hash of its own. */
  readonly server: ServerConfig;
  /** Paths such as `env.TOKEN` that somebody must fill in first; while there are any, nothing is started. */
  readonly missing: readonly string[];
  /** Paths of overrides that a member may not set, and that were therefore left out. */
  readonly ignored: readonly string[];
}

/** What a person, and that person's team, have set for one server. */
export interface PersonalValues {
  readonly team: ServerOverrides | undefined;
  readonly user: ServerOverrides | undefined;
  /** Whether no people are configured, so that the template speaks for its one user. */
  readonly isOnlyUser: boolean;
}

const none: ServerOverrides = Object.freeze({});

/**
 * Merges a server's configuration for one principal. `env` and `headers` are merged by name (headers without regard
 * to case), the user's before the team's before the template's; `args` are appended, template, team, user.
 * `required.user` must come from the user's own overrides and `required.team` from the team's or the user's, so that
 * nobody works with another's secret by mistake; only where no principals are configured the template speaks for its
 * one user. Pure; never throws.
 */
export function personalServer(server: ServerConfig, values: PersonalValues): PersonalServer {
  const { team: teamOverrides = none, user: userOverrides = none, isOnlyUser } = values;
  const team = allowOverrides(server.transport, teamOverrides);
  const user = allowOverrides(server.transport, userOverrides);

  const transport = mergeTransport(server.transport, [team, user]);
  const template = isOnlyUser ? [server.transport] : [];
  const missing = [
    ...server.required.user.filter((path) => ![user, ...template].some((source) => has(source, path))),
    ...server.required.team.filter((path) => ![team, user, ...template].some((source) => has(source, path))),
    ...(userOverrides.missing ?? []),
    ...(teamOverrides.missing ?? []).filter((path) => !has(user, path)),
  ];
  return deepFreeze({
    server: { ...server, transport, hash: hashTransport(transport, server.roots) },
    missing: [...new Set(missing)],
    ignored: [...new Set([...team.ignored, ...user.ignored])],
  });
}

function mergeTransport(template: Transport, levels: readonly ServerOverrides[]): Transport {
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

/** Two spellings of one header would be sent as two. */
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

/** Whether `env.NAME` or `headers.NAME` is there and not empty. */
function has(values: Values, path: string): boolean {
  const dot = path.indexOf(".");
  const name = path.slice(dot + 1);
  if (path.slice(0, dot) === "env") return Boolean(values.env && Object.hasOwn(values.env, name) && values.env[name]);
  return Object.entries(values.headers ?? {}).some(
    ([header, value]) => header.toLowerCase() === name.toLowerCase() && value !== "",
  );
}
