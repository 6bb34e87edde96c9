import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Config, ServerConfig } from "../../config/config.ts";
import { personalServer } from "../../config/personal.ts";
import type { InstanceId, PrincipalId } from "../../kernel/ids.ts";
import { localPrincipal } from "../../kernel/principal.ts";
import type { InstanceState } from "./state.ts";

/** An instance as the configuration wants it. */
export interface Wanted {
  readonly id: InstanceId;
  readonly owner: PrincipalId | null;
  readonly server: ServerConfig;
  readonly missing: readonly string[];
}

interface Running {
  /** Undefined for one that is still to be made. */
  readonly id: InstanceId | undefined;
  readonly owner: PrincipalId | null;
  readonly server: ServerConfig;
}

/** What the configuration wants in place of an instance; undefined when it wants none: server, scope, person or team are others now. Pure. */
export function wantedFor({ id, owner, server }: Running, config: Config): Wanted | undefined {
  const template = config.servers.find(({ slug }) => slug === server.slug);
  if (template === undefined || (template.scope !== "shared") !== (owner !== null)) return undefined;
  if (owner === null) return { id: template.slug as string as InstanceId, owner, server: template, missing: [] };
  const person = config.people.principals.get(owner);
  if (person === undefined && owner !== localPrincipal.id) return undefined;
  const wantedId = personalId(template, owner, person?.team ?? null);
  if (id !== undefined && id !== wantedId) return undefined;
  const personal = personalServer(template, config.people, owner);
  return { id: wantedId, owner, server: personal.server, missing: personal.missing };
}

/** Whether what reaches the server is another, or whether it may start is: then it is replaced, otherwise it only learns the rest. */
export function differs(
  instance: { readonly server: ServerConfig; readonly state: InstanceState },
  wanted: Wanted,
): boolean {
  const { server, state } = instance;
  const missing = state.kind === "unconfigured" ? state.missing : [];
  return (
    server.hash !== wanted.server.hash ||
    server.transport.kind !== wanted.server.transport.kind ||
    server.disabledReason !== wanted.server.disabledReason ||
    (wanted.server.disabledReason === undefined && !isDeepStrictEqual(missing, wanted.missing))
  );
}

/** A token that was taken away must not leave anything running that its holder started. */
export function hasLostToken(
  instance: { readonly owner: PrincipalId | null },
  before: Config | undefined,
  after: Config,
): boolean {
  if (instance.owner === null) return false;
  const now = after.people.principals.get(instance.owner)?.tokenHashes ?? [];
  return (before?.people.principals.get(instance.owner)?.tokenHashes ?? []).some((hash) => !now.includes(hash));
}

/** `{server}-{team}-{user}-{id}`: the id keeps apart what the readable parts might blend. */
function personalId(server: ServerConfig, owner: PrincipalId, team: string | null): InstanceId {
  const id = createHash("sha256")
    .update(JSON.stringify([server.slug, team, owner]))
    .digest("hex")
    .slice(0, 12);
  return `${server.slug}-${team ?? "none"}-${owner}-${id}` as InstanceId;
}
