import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { AppLine, SessionLine } from "../../people/authorization-server/user-access.ts";
import type { ClientLine, MadeClient } from "../../people/authorization-server/registered-clients.ts";
import { ownerActor } from "../../people/directory/change-queue.ts";
import type { TeamPeople } from "../people/team-people.ts";

/** What a command about apps, browsers and clients is answered with. */
export interface AccessAnswer {
  readonly apps?: readonly AppLine[];
  readonly sessions?: readonly SessionLine[];
  readonly clients?: readonly ClientLine[];
  /** Whether there are clients beyond those, which a terminal is not told of. */
  readonly areMore?: boolean;
  /** Shown once. */
  readonly client?: MadeClient;
}

/** The members of such a request. A missing one is undefined. */
export interface AccessRequest {
  readonly task: string;
  readonly name?: string | undefined;
  readonly user?: string | undefined;
  readonly redirectUris?: readonly string[] | undefined;
  readonly hasSecret?: boolean | undefined;
}

/** Apps that register by themselves may be very many. REST has all of them, page by page. */
const mostListed = 1_000;

type Task = (people: TeamPeople, request: AccessRequest) => Promise<AccessAnswer>;

const tasks: Readonly<Record<string, Task>> = {
  "app.list": async ({ access, directory }, { user }) =>
    await Promise.resolve({ apps: access.users.appsOf(userIdOf(directory, user)) }),
  "app.revoke": async ({ access, directory }, { name, user }) => {
    await access.users.revokeApp(ownerActor, name ?? "", userIdOf(directory, user));
    return {};
  },
  "session.list": async ({ access, directory }, { user }) =>
    await Promise.resolve({ sessions: access.users.sessionsOf(userIdOf(directory, user)) }),
  "session.end": async ({ access, directory }, { name, user }) => {
    await access.users.endSession(ownerActor, name ?? "", userIdOf(directory, user));
    return {};
  },
  "client.list": async ({ access }) => {
    const { clients, nextCursor } = await access.clients.list({ limit: mostListed });
    return { clients, areMore: nextCursor !== null };
  },
  "client.add": async ({ access }, { name = "", redirectUris = [], hasSecret = false }) => ({
    client: await access.clients.add(ownerActor, { name, redirectUris, hasSecret }),
  }),
  "client.remove": async ({ access }, { name }) => {
    await access.clients.remove(ownerActor, name ?? "");
    return {};
  },
};

/** Undefined for a request that is about something else. */
export function findAccessTask(task: string): Task | undefined {
  return Object.hasOwn(tasks, task) ? tasks[task] : undefined;
}

/** By name or by id; undefined where none is named. Throws PERSON_UNKNOWN. */
export function userIdOf(
  { book }: Pick<TeamPeople["directory"], "book">,
  name: string | undefined,
): string | undefined {
  if (name === undefined) return undefined;
  const user = book.userNamed(name) ?? book.users.get(name);
  if (user !== undefined) return user.id;
  throw new GatewayError("PERSON_UNKNOWN", `there is no user ${JSON.stringify(name.slice(0, 100))}`, {
    hint: "`toolyard user list` lists them.",
  });
}
