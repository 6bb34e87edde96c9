import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Installed, ServerConfig } from "../../../config/config.ts";
import { personalServer, type PersonalValues } from "../../../config/people/personal.ts";
import type { InstanceId, PrincipalId } from "../../../kernel/ids.ts";
import { localPrincipal, type Principal } from "../../../kernel/principal.ts";
import { isBalanced } from "../instance-deps.ts";
import type { InstanceState } from "../state.ts";

/** An instance as the configuration asks for it. */
export interface Wanted {
  readonly id: InstanceId;
  readonly owner: PrincipalId | null;
  readonly server: ServerConfig;
  readonly missing: readonly string[];
  /** The owner's team, or the one that installed the server. */
  readonly team?: string | undefined;
  /** Where to enter the missing values. */
  readonly advice?: string | undefined;
}

/** The people for whom instances are made, as they are now. */
export interface Owners {
  /** Undefined for somebody who does not exist. */
  byId(owner: PrincipalId): Pick<Principal, "team"> | undefined;
  valuesFor(owner: PrincipalId, slug: string): PersonalValues;
  /** Hashes of the tokens that a person has. */
  credentialsOf(owner: PrincipalId): readonly string[];
  /**
   * Servers that this person has beside those of the configuration, because a team installed them. The same array until
   * one of them changes. Absent where nothing can be installed.
   */
  serversOf?(owner: PrincipalId): readonly ServerConfig[];
  /** An installed server as it runs for this person, or for its whole team; undefined where it is none any more. */
  installedFor?(installation: string, owner: PrincipalId | null): InstalledServer | undefined;
}

/** A server that a team installed, with the values that it runs with. */
export type InstalledServer = Pick<Wanted, "server" | "missing" | "advice">;

interface Running {
  /** Undefined for one that is still to be made. */
  readonly id: InstanceId | undefined;
  readonly owner: PrincipalId | null;
  readonly server: ServerConfig;
}

/**
 * What should take the place of an instance. Undefined when nothing should, because the server, its scope, the person
 * or the team is no longer the same.
 */
export function wantedFor(
  { id, owner, server }: Running,
  servers: readonly ServerConfig[],
  people: Owners,
): Wanted | undefined {
  if (server.installed !== undefined) return wantedInstalled({ id, owner, server }, server.installed, people);
  const template = servers.find(({ slug }) => slug === server.slug);
  if (template === undefined || (template.scope !== "shared") !== (owner !== null)) return undefined;
  if (owner === null) return { id: template.slug as string as InstanceId, owner, server: template, missing: [] };
  const person = people.byId(owner);
  if (person === undefined && owner !== localPrincipal.id) return undefined;
  const wantedId = personalId(template, owner, person?.team ?? null);
  if (id !== undefined && id !== wantedId) return undefined;
  const personal = personalServer(template, people.valuesFor(owner, template.slug));
  return {
    id: wantedId,
    owner,
    server: personal.server,
    missing: personal.missing,
    team: person?.team ?? undefined,
  };
}

function wantedInstalled({ id, owner }: Running, { id: installation }: Installed, people: Owners): Wanted | undefined {
  if (owner !== null && people.byId(owner) === undefined) return undefined;
  const found = people.installedFor?.(installation, owner);
  if (found === undefined || (found.server.scope !== "shared") !== (owner !== null)) return undefined;
  const wantedId = installedId(found.server, owner);
  if (id !== undefined && id !== wantedId) return undefined;
  return { id: wantedId, owner, ...found, team: found.server.installed?.team };
}

/**
 * The id of an instance of an installed server: readable, and unique by the installation's own id, whatever the teams
 * called it.
 */
export function installedId({ slug, installed }: ServerConfig, owner: PrincipalId | null): InstanceId {
  const { id = "", team = "" } = installed ?? {};
  if (owner === null) return `${slug}-${team}-${id}` as InstanceId;
  return `${slug}-${team}-${owner}-${hashOf([id, owner])}` as InstanceId;
}

/**
 * Whether an instance has to be replaced: what reaches the server has changed, or whether it may start. All other
 * changes can be applied to the running instance.
 */
export function differs(
  instance: { readonly server: ServerConfig; readonly state: InstanceState },
  wanted: Wanted,
): boolean {
  const { server, state } = instance;
  const missing = state.kind === "unconfigured" ? state.missing : [];
  return (
    server.hash !== wanted.server.hash ||
    isBalanced(server) !== isBalanced(wanted.server) ||
    server.transport.kind !== wanted.server.transport.kind ||
    server.disabledReason !== wanted.server.disabledReason ||
    (wanted.server.disabledReason === undefined && !isDeepStrictEqual(missing, wanted.missing))
  );
}

/**
 * Whether the owner has lost a token since `before`: nothing that the holder of a revoked token started may keep
 * running. Instances of `local` stay, because the gateway's owner also uses them without a token.
 */
export function hasLostToken(
  { owner }: { readonly owner: PrincipalId | null },
  before: readonly string[],
  people: Owners,
): boolean {
  if (owner === null || owner === localPrincipal.id) return false;
  const now = people.credentialsOf(owner);
  return before.some((hash) => !now.includes(hash));
}

/** `{server}-{team}-{user}-{id}`, where the id distinguishes names whose readable parts are the same when joined. */
export function personalId(server: Pick<ServerConfig, "slug">, owner: PrincipalId, team: string | null): InstanceId {
  return `${server.slug}-${team ?? "none"}-${owner}-${hashOf([server.slug, team, owner])}` as InstanceId;
}

function hashOf(parts: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 12);
}
