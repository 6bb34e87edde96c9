import { problemOf, toFailure, type ApiFailure } from "./failure.ts";
import type { components } from "./schema.d.ts";
import { forgetArguments } from "./typed-arguments.ts";

/** Who is logged in. */
export type Session = components["schemas"]["DashboardSession"];
export type LoginWays = components["schemas"]["LoginWays"];

export type SessionState =
  | { readonly kind: "looking" }
  | { readonly kind: "in"; readonly session: Session }
  /** No one is logged in; `was` is the person logged in until now, whose page stays as it is. */
  | {
      readonly kind: "out";
      readonly was: Session | undefined;
      readonly failure: ApiFailure | undefined;
      readonly ways: LoginWays;
    }
  | { readonly kind: "unreachable"; readonly failure: ApiFailure };

const onlyLinks: LoginWays = { hasPeople: false, page: "", person: null };
const keyName = "toolyard-key";
/** Changes whenever a person has logged in, so that other tabs look again. */
const personName = "toolyard-person";
/** The team that somebody works in: one for all tabs, because they share one stream of events. */
const teamName = "toolyard-team";

let state: SessionState = { kind: "looking" };
let isLooking = false;
const listeners = new Set<() => void>();

function become(next: SessionState): void {
  state = next;
  for (const listener of listeners) listener();
}

/** For useSyncExternalStore. */
export const sessionStore = {
  get: (): SessionState => state,
  subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};

/**
 * What every request brings beside the cookie: the half of the session that pages of this origin alone can read. The
 * session of the pages for people has a cookie alone, and a choice among the person's teams.
 */
export function proofHeaders(): Readonly<Record<string, string>> {
  const key = localStorage.getItem(keyName);
  if (key !== null) return { "Toolyard-Key": key };
  const team = localStorage.getItem(teamName);
  return team === null ? {} : { "X-Toolyard-Team": team };
}

/** The code of a one-time link; taken out of the address at once, so that it is in no history and no screenshot. */
function takeCode(): string | undefined {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code === null) return undefined;
  history.replaceState(history.state, "", location.pathname + location.search);
  return code;
}

async function ask(method: "GET" | "POST" | "DELETE", body?: object): Promise<unknown> {
  const response = await fetch("/api/session", {
    method,
    cache: "no-store",
    headers: {
      ...(method === "GET" ? {} : { "Content-Type": "application/json" }),
      ...(method === "POST" ? {} : proofHeaders()),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer: unknown = await response.json();
  if (!response.ok) throw problemOf(response.status, answer);
  return answer;
}

/** Logs in with a one-time code, or with a token. Rejects with why that cannot be. */
export async function logIn(given: { readonly code: string } | { readonly token: string }): Promise<void> {
  const { key, ...session } = (await ask("POST", given)) as Session & { readonly key: string };
  localStorage.setItem(keyName, key);
  become({ kind: "in", session });
}

/**
 * Who is logged in with a link or a token, or else at the pages for people. A key that is worth nothing any more must
 * not hide a person, and a team that somebody left must not hide their others.
 */
async function askWho(): Promise<Session> {
  try {
    return (await ask("GET")) as Session;
  } catch (error) {
    const name = [keyName, teamName].find((one) => localStorage.getItem(one) !== null);
    if (toFailure(error).status !== 401 || name === undefined) throw error;
    localStorage.removeItem(name);
    return await askWho();
  }
}

async function askWays(): Promise<LoginWays> {
  const response = await fetch("/api/session/login", { cache: "no-store" });
  return response.ok ? ((await response.json()) as LoginWays) : onlyLinks;
}

/** Looks who is logged in. Called at the start, and when another tab has logged in or out. */
export async function findSession(): Promise<void> {
  const was = state.kind === "in" ? state.session : state.kind === "out" ? state.was : undefined;
  const code = takeCode();
  try {
    if (code !== undefined) {
      await logIn({ code });
      return;
    }
    const session = await askWho();
    if (session.isPerson) localStorage.setItem(personName, session.startedAt);
    become({ kind: "in", session });
  } catch (error) {
    const failure = toFailure(error);
    // A link that was opened twice: the browser is logged in already.
    if (code !== undefined && localStorage.getItem(keyName) !== null && failure.status === 401)
      return await findSession();
    if (failure.status === 401 || failure.status === 403) {
      const ways = await askWays().catch(() => onlyLinks);
      become({ kind: "out", was, failure: code === undefined ? undefined : failure, ways });
    } else if (was === undefined) become({ kind: "unreachable", failure });
  }
}

/** The gateway does not know this session any more. What somebody has typed stays where it is. */
export function loseSession(): void {
  // Several requests are refused together.
  if (state.kind !== "in" || isLooking) return;
  isLooking = true;
  void findSession().finally(() => {
    isLooking = false;
  });
}

export async function logOut(): Promise<void> {
  const isPerson = state.kind === "in" && state.session.isPerson;
  await ask("DELETE").catch(() => undefined);
  for (const name of [keyName, personName, teamName]) localStorage.removeItem(name);
  forgetArguments();
  if (isPerson) location.assign(loginPage("/ui/"));
  else become({ kind: "out", was: undefined, failure: undefined, ways: onlyLinks });
}

/** Where people log in, and come back from to a path of this dashboard. */
export function loginPage(next: string): string {
  return `/auth/login?next=${encodeURIComponent(next)}`;
}

/** Works in another of one's teams from now on, in every tab. */
export function chooseTeam(slug: string): void {
  localStorage.setItem(teamName, slug);
  location.reload();
}

/** Another tab logged in or out, or chose another team. */
export function followOtherTabs(): void {
  addEventListener("storage", ({ key, newValue }) => {
    if (key === keyName || key === personName) void findSession();
    // The screen shows the other team.
    else if (key === teamName && newValue !== null) location.reload();
  });
  // Somebody who logged in again in another tab comes back to this one.
  addEventListener("focus", () => {
    if (state.kind === "out") void findSession();
  });
  addEventListener("hashchange", () => {
    if (location.hash.startsWith("#code=")) void findSession();
  });
}
