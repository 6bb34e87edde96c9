import { effectOfCall } from "../../catalog/model/effects.ts";
import type { ToolEntry } from "../../catalog/model/snapshot.ts";
import type { Narrowing } from "../../catalog/model/view.ts";
import type { Settings } from "../../config/config.ts";
import { findByClient } from "../../config/rows/client-profiles.ts";
import { matchesPattern } from "../../config/words/tool-pattern.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { InstanceId } from "../../kernel/ids.ts";
import { reaches, type Principal } from "../../kernel/principal.ts";
import type { ToolEffect } from "../../kernel/call/tool-effects.ts";
import { effectOf, type DecidingServer } from "./decide.ts";

/** One profile as it is written. */
export type ProfileRules = Settings["profiles"][string];

/** What the profiles of the configuration make of principals: they narrow what these may see and call. */
export interface Profiles {
  /**
   * The principal as it comes through the path of a profile: the same object for the same principal. Throws
   * PROFILE_UNKNOWN, and FORBIDDEN for a credential of another profile.
   */
  enter(principal: Principal, name: string): Principal;
  /**
   * The principal as a client of this name has it where neither path nor credential names a profile: `clients` of one
   * may name the client. What a client says of itself protects nothing.
   */
  ofClient(principal: Principal, clientName: string | undefined): Principal;
  /** What hides servers and tools from a principal with a profile; the same object until the configuration changes. */
  narrowing(principal: Principal): Narrowing | undefined;
  /** Whether the principal's credential and profile are for this server. */
  reaches(principal: Principal, server: string): boolean;
  /** Throws POLICY_DENIED for a call that is outside the principal's profile, by its name, effect or arguments. */
  require(principal: Principal, tool: ToolEntry, call: ProfileCall): void;
  /** Of the principal's profile; undefined without one. */
  rulesOf(principal: Principal): ProfileRules | undefined;
}

export interface ProfileCall {
  readonly server: DecidingServer;
  readonly given: () => unknown;
}

export interface ProfilesDeps {
  /** The same object until the configuration changes. */
  readonly written: () => Settings["profiles"];
  readonly serverOf: (instance: InstanceId) => DecidingServer | undefined;
}

/** What a profile has that was taken out of the configuration. */
const closed: ProfileRules = Object.freeze({ servers: [] });

export function createProfiles({ written, serverOf }: ProfilesDeps): Profiles {
  const entered = new WeakMap<Principal, Map<string, Principal>>();
  const narrowings = new WeakMap<ProfileRules, Narrowing>();
  /** By name: as many as profiles that were ever written. */
  const latest = new Map<string, { readonly key: string; readonly narrowing: Narrowing }>();

  function find(name: string): ProfileRules | undefined {
    const all = written();
    return Object.hasOwn(all, name) ? all[name] : undefined;
  }

  function rulesOf({ profile }: Principal): ProfileRules | undefined {
    return profile === undefined ? undefined : (find(profile) ?? closed);
  }

  function narrowing(principal: Principal): Narrowing | undefined {
    const rules = rulesOf(principal);
    if (rules === undefined) return undefined;
    const name = principal.profile ?? "";
    let made = narrowings.get(rules);
    if (made?.name === name) return made;
    // A profile that says the same after a change of the file hides the same: views stay as they are.
    const { tokenHashes: _tokens, ...said } = rules;
    const key = JSON.stringify(said);
    const before = latest.get(name);
    made = before?.key === key ? before.narrowing : toNarrowing(name, rules, serverOf);
    latest.set(name, { key, narrowing: made });
    narrowings.set(rules, made);
    return made;
  }

  function enter(principal: Principal, name: string): Principal {
    if (principal.profile === name) return principal;
    if (principal.profile !== undefined)
      throw new GatewayError("FORBIDDEN", `this credential is for profile ${principal.profile} alone`);
    if (find(name) === undefined)
      throw new GatewayError("PROFILE_UNKNOWN", `there is no profile ${JSON.stringify(name.slice(0, 80))}`);
    let made = entered.get(principal);
    if (made === undefined) entered.set(principal, (made = new Map()));
    let narrowed = made.get(name);
    if (narrowed === undefined)
      made.set(name, (narrowed = Object.freeze({ ...principal, profile: name, narrowedFrom: principal })));
    return narrowed;
  }

  return {
    enter,
    ofClient(principal, clientName) {
      if (principal.profile !== undefined || clientName === undefined) return principal;
      const name = findByClient(clientRows(written()), clientName);
      return name === undefined ? principal : enter(principal, name);
    },
    narrowing,
    rulesOf,
    reaches: (principal, slug) => reaches(principal, slug) && narrowing(principal)?.reaches(slug) !== false,
    require(principal, tool, { server, given }) {
      const rules = rulesOf(principal);
      if (rules === undefined) return;
      const { effects } = rules;
      const isInside = hasServer(rules, tool.server) && hasTool(rules, tool.server, tool.upstreamName);
      const effect = isInside && effects !== undefined ? effectOfTool(tool, server, given) : undefined;
      if (isInside && (effect === undefined || effects?.includes(effect) === true)) return;
      const why = effect === undefined ? "" : ` (this call: ${effect})`;
      throw new GatewayError("POLICY_DENIED", `${tool.path} is outside profile ${principal.profile ?? ""}${why}`, {
        data: { profile: principal.profile },
      });
    },
  };
}

function toNarrowing(name: string, rules: ProfileRules, serverOf: ProfilesDeps["serverOf"]): Narrowing {
  return {
    name,
    reaches: (slug) => hasServer(rules, slug),
    takes({ slug, instance }, tool) {
      const server = serverOf(instance);
      const { effects } = rules;
      if (!hasTool(rules, slug, tool.upstreamName)) return false;
      return effects === undefined || (server !== undefined && effects.includes(effectOfTool(tool, server)));
    },
  };
}

const rowsByClient = new WeakMap<Settings["profiles"], Readonly<Record<string, string>>>();

/** Names of profiles by the client that has them. */
function clientRows(profiles: Settings["profiles"]): Readonly<Record<string, string>> {
  let rows = rowsByClient.get(profiles);
  if (rows === undefined) {
    const pairs = Object.entries(profiles).flatMap(([name, { clients = [] }]) =>
      clients.map((one) => [one, name] as const),
    );
    rowsByClient.set(profiles, (rows = Object.fromEntries(pairs)));
  }
  return rows;
}

/** Without a list of servers, those that the patterns of tools name, and all where these name none. */
function hasServer({ servers, tools }: ProfileRules, slug: string): boolean {
  if (servers !== undefined) return servers.some((pattern) => matchesPattern(pattern, slug));
  return tools === undefined || tools.some((pattern) => matchesPattern(serverPart(pattern), slug));
}

function hasTool({ tools }: ProfileRules, slug: string, name: string): boolean {
  return (
    tools === undefined ||
    tools.some((pattern) => matchesPattern(serverPart(pattern), slug) && matchesPattern(toolPart(pattern), name))
  );
}

/** `github:list_*`, or for tools of every server `list_*`. */
function serverPart(pattern: string): string {
  const at = pattern.indexOf(":");
  return at === -1 ? "*" : pattern.slice(0, at);
}

function toolPart(pattern: string): string {
  return pattern.slice(pattern.indexOf(":") + 1);
}

function effectOfTool(tool: ToolEntry, server: DecidingServer, given?: () => unknown): ToolEffect {
  const { effect, choices } = effectOf(tool, server);
  return given === undefined ? effect : effectOfCall(effect, choices, given());
}
