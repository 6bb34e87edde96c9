import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { SecretRow } from "../../store/install-rows.ts";
import type { InstallIndex, SecretOwner } from "./install-index.ts";
import type { CarryOut, InstallPlan } from "./install-queue.ts";
import { requireRight, type Actor } from "./install-rights.ts";
import type { Vault } from "./vault.ts";

/** A secret as it is shown: that it is there, and never what it is. */
export interface SecretLine {
  readonly id: string;
  readonly name: string;
  /** The slug of the server whose field it is; null for one of the team. */
  readonly server: string | null;
  readonly updatedAtMs: number;
  /** The hour in which it last reached a server. */
  readonly usedAtMs: number | null;
}

/** The secrets of a team, and the keys that all are sealed with. */
export interface SecretChanges {
  /** Of the team, and of its servers' team fields; a member's own are not listed for others. */
  list(actor: Actor, teamId: string): readonly SecretLine[];
  /** One of these, by name or id. Throws SECRET_UNKNOWN. */
  find(actor: Actor, teamId: string, name: string): SecretLine;
  /** Sets one of the team, with a name that templates use as `${secret:NAME}`. */
  set(actor: Actor, teamId: string, given: { readonly name: string; readonly text: string }): Promise<void>;
  /** By name, or by id. */
  remove(actor: Actor, teamId: string, name: string): Promise<void>;
  /**
   * Wraps every team's key with a new one; with `isDeep`, also makes new keys for all teams and seals everything
   * again. Whenever it is interrupted, what was there can be opened, and the next start finishes it.
   */
  rotate(actor: Actor, isDeep: boolean): Promise<{ readonly teams: number; readonly secrets: number }>;
  /** Finishes a rotation that was interrupted. */
  resume(): Promise<boolean>;
}

export interface SecretChangesDeps {
  readonly carryOut: CarryOut;
  readonly book: InstallIndex;
  readonly vault: Vault;
  readonly teamSlug: (teamId: string) => string | undefined;
  readonly teamIds: () => Iterable<string>;
  readonly newId: (prefix: string) => string;
  readonly now: () => number;
}

const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
/** A key or certificate in PEM is a few KB. */
const longestSecret = 65_536;
/** Of one team. More are a program that forgets the ones it has. */
const mostSecrets = 1_000;
const gateway: Actor = { id: "gateway", via: "gateway", isAdmin: true, membership: undefined };

export function createSecretChanges(deps: SecretChangesDeps): SecretChanges {
  const { book, vault, carryOut, teamSlug } = deps;

  function named(teamId: string, name: string): SecretRow | undefined {
    const listed = book.secretsOfTeam(teamId).filter(({ membershipId }) => membershipId === null);
    return listed.find((row) => row.id === name || (row.installationId === null && row.field === name));
  }

  function requireNamed(teamId: string, name: string): SecretRow {
    const row = named(teamId, name);
    if (row === undefined) throw new GatewayError("SECRET_UNKNOWN", "the team has no such secret");
    return row;
  }

  function toLine({ id, field, installationId, updatedAtMs, usedAtMs }: SecretRow): SecretLine {
    const server = installationId === null ? null : (book.installations.get(installationId)?.slug ?? installationId);
    return { id, name: field, server, updatedAtMs, usedAtMs };
  }

  async function rotate(actor: Actor): Promise<void> {
    await carryOut(actor, async () => {
      const dataKeys = await vault.rewrap();
      return { writes: { dataKeys }, action: "key.rotate", object: "", team: undefined, result: undefined };
    });
    await vault.finishRotation();
  }

  return {
    list(actor, teamId) {
      requireRight(actor, "manage", teamId);
      return book
        .secretsOfTeam(teamId)
        .filter(({ membershipId }) => membershipId === null)
        .map(toLine);
    },
    find(actor, teamId, name) {
      requireRight(actor, "manage", teamId);
      return toLine(requireNamed(teamId, name));
    },
    async set(actor, teamId, { name, text }) {
      requireRight(actor, "manage", teamId);
      if (!namePattern.test(name))
        throw new GatewayError("VALUE_REFUSED", "a secret's name has letters, digits, dots, dashes and underscores");
      await carryOut(actor, async () => {
        const owner = { teamId, installationId: null, membershipId: null };
        const writes = await planSecret(deps, { owner, field: name, text });
        return { writes, action: "secret.set", object: name, team: teamSlug(teamId), result: undefined };
      });
    },
    async remove(actor, teamId, name) {
      requireRight(actor, "manage", teamId);
      await carryOut(actor, (): InstallPlan<void> => {
        const row = requireNamed(teamId, name);
        const writes = { goneSecrets: [row.id] };
        return { writes, action: "secret.remove", object: row.field, team: teamSlug(teamId), result: undefined };
      });
    },
    async rotate(actor, isDeep) {
      requireRight(actor, "operate", null);
      await rotate(actor);
      const done = { teams: 0, secrets: 0 };
      for (const teamId of isDeep ? [...deps.teamIds()] : []) {
        await carryOut(actor, async () => {
          const secrets = book.secretsOfTeam(teamId);
          const writes = secrets.length === 0 ? {} : await vault.reseal(teamId, secrets);
          done.teams += secrets.length === 0 ? 0 : 1;
          done.secrets += secrets.length;
          return { writes, action: "key.reseal", object: "", team: teamSlug(teamId), result: undefined };
        });
      }
      return done;
    },
    async resume() {
      if (!vault.isRotating) return false;
      await rotate(gateway);
      return true;
    },
  };
}

/** A new secret, or a new value of one. Throws VALUE_REFUSED. */
export async function planSecret(
  { book, vault, newId, now }: Pick<SecretChangesDeps, "book" | "vault" | "newId" | "now">,
  { owner, field, text }: { readonly owner: SecretOwner; readonly field: string; readonly text: string },
): Promise<Awaited<ReturnType<Vault["seal"]>>> {
  if (text === "" || text.length > longestSecret)
    throw new GatewayError("VALUE_REFUSED", `a secret has 1 to ${longestSecret} characters`);
  const known = book.secretsOf(owner).find((row) => row.field === field);
  if (known === undefined && book.secretsOfTeam(owner.teamId).length >= mostSecrets)
    throw new GatewayError("VALUE_REFUSED", `a team has at most ${mostSecrets} secrets`);
  const about = known ?? { id: newId("s_"), ...owner, field, version: 0, createdAtMs: now(), usedAtMs: null };
  const { sealed: _sealed, keyId: _keyId, ...row } = { sealed: "", keyId: "", ...about };
  return await vault.seal({ ...row, version: row.version + 1, updatedAtMs: now() }, text);
}
