import type { ConnectableServer, PersonServer, PersonServers } from "../../front/web/pages/connect-page.ts";
import type { KnownVisit } from "../../front/web/visit.ts";
import { abortAfter } from "../../kernel/runtime/abort.ts";
import type { ServerConfig } from "../../config/config.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Member } from "../../people/directory/books/member.ts";
import { shownAddress, viewOwnValues } from "../../people/installations/install-view.ts";
import type { Instance } from "../../servers/instance/instance.ts";
import { createBrowserLogins } from "../../servers/logins/flow/browser-logins.ts";
import type { UserRow } from "../../store/people-rows.ts";
import type { GatewayParts } from "../gateway-parts.ts";
import { createLoginRelay } from "./login-relay.ts";
import { takesLogin } from "../servers/server-logins.ts";
import type { TeamPeople } from "./team-people.ts";

type Parts = Pick<GatewayParts, "fleet" | "logins" | "audit" | "sharedItems" | "log">;

/** So long a page waits for a server that was just given what it wanted. */
const settleMs = 5_000;

/** An instance with the membership through which a person has it. */
interface Held {
  readonly member: Member;
  readonly instance: Instance;
}

/** The servers of people, for their own pages: those of every team that they are in. */
export function createPersonServers(
  { fleet, logins, audit, sharedItems, log }: Parts,
  people: TeamPeople,
): PersonServers {
  const relay = sharedItems && createLoginRelay({ items: sharedItems, key: people.access.store.key, log });
  const pending = createBrowserLogins(relay);
  const { book } = people.directory;
  const { installs } = people;

  const { heldBy, find, requireHeld } = createHoldings(fleet, book);

  function fieldsOf({ member, instance }: Held): ConnectableServer["fields"] {
    if (instance.owner === null) return [];
    const { id: teamId } = member.team;
    const { id, tiered } = installs.changes.forMember(teamId, nameOf(instance));
    const owner = { installationId: id, membershipId: member.row.id, teamId };
    return viewOwnValues(installs, tiered, owner).fields;
  }

  /** Who it was: the gateway's own note of the login names no one. */
  async function note({ user, ip }: KnownVisit, action: string, object: string): Promise<void> {
    await audit.order({ actor: user.name, via: "browser", action, object, ip });
  }

  return {
    of: (user) => heldBy(user).map(toPersonServer),
    async find(user, id) {
      const held = find(user, id);
      if (held === undefined) return undefined;
      const { transport } = held.instance.server;
      return {
        ...toPersonServer(held),
        address: shownAddress(held.instance),
        takesLogin: takesLogin(transport),
        hasLogin: takesLogin(transport) && (await logins.loginOf(held.instance.id)) !== undefined,
        mayLogIn: mayLogIn(held),
        fields: fieldsOf(held),
      };
    },
    async begin(visit, id) {
      const { instance } = requireHeld(visit.user, id);
      const { owner } = instance;
      return await pending.begin({
        instance: id,
        person: visit.user.id,
        browser: browserOf(visit),
        redirectUrl: `${visit.base}/connect/callback`,
        mayFinish() {
          const user = book.users.get(visit.user.id);
          const held = user?.status === "active" ? find(user, id) : undefined;
          if (held === undefined || !mayLogIn(held))
            throw new GatewayError("FORBIDDEN", "you may not log in at this server any more", { hint: "" });
        },
        async logIn(way, signal) {
          await logins.logIn(instance.server, id, way, signal);
          // A person who has left meanwhile leaves no login behind.
          if (owner !== null && book.members.get(owner)?.principal === undefined) {
            await logins.forget([id]);
            throw new GatewayError("LOGIN_FAILED", "you are not in this team any more");
          }
          await note(visit, "server.connect", id);
          await instance.settled(abortAfter(settleMs)).catch(() => undefined);
        },
      });
    },
    finish: async (visit) => await pending.finish(visit.query, browserOf(visit)),
    async logOut(visit, id) {
      await logins.logOut(requireHeld(visit.user, id).instance.server, id);
      await note(visit, "server.disconnect", id);
    },
    async setValues({ user, ip }, id, values) {
      const { member, instance } = requireHeld(user, id);
      const { id: membership, teamId, role } = member.row;
      const actor = { id: membership, via: "browser", ip, isAdmin: false };
      await installs.changes.setOwnValues(
        { ...actor, membership: { id: membership, teamId, role } },
        nameOf(instance),
        { values },
      );
    },
  };
}

/** Which servers people have, at this moment. */
function createHoldings(fleet: Parts["fleet"], book: TeamPeople["directory"]["book"]) {
  function heldBy({ id }: UserRow): readonly Held[] {
    return book
      .membersOf(id)
      .flatMap((member) =>
        member.principal === undefined
          ? []
          : fleet.of(member.principal).map((instance): Held => ({ member, instance })),
      );
  }

  const find = (user: UserRow, id: string): Held | undefined => heldBy(user).find(({ instance }) => instance.id === id);

  function requireHeld(user: UserRow, id: string): Held {
    const held = find(user, id);
    if (held !== undefined) return held;
    throw new GatewayError("FORBIDDEN", "this is no server of yours", { hint: "" });
  }

  return { heldBy, find, requireHeld };
}

function mayLogIn({ member, instance: { owner, server } }: Held): boolean {
  const about = { isAdmin: member.user.role === "admin", isManager: member.row.role !== "member" };
  return mayDecideLogin({ isShared: owner === null, installed: server.installed }, about);
}

/** A shared login is a decision of those who run the team; where the whole gateway shares it, of its admins. */
export function mayDecideLogin(
  { isShared, installed }: { readonly isShared: boolean; readonly installed: ServerConfig["installed"] },
  { isAdmin, isManager }: { readonly isAdmin: boolean; readonly isManager: boolean },
): boolean {
  return !isShared || isAdmin || (installed !== undefined && isManager);
}

/** As values are given for it: an installation by its id, a server of the configuration file by its name. */
function nameOf({ server }: Instance): string {
  return server.installed?.id ?? server.slug;
}

/** The session in which a login began has to be the one that it comes back to. */
function browserOf({ session }: KnownVisit): string {
  return session.hash;
}

function toPersonServer({ member, instance }: Held): PersonServer {
  const { id, server, owner, status } = instance;
  const { slug, displayName: title } = server;
  const { reason } = instance.statusView();
  return { id, slug, title, team: member.team.slug, isShared: owner === null, status, reason };
}
