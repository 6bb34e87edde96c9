import { problemOf, toFailure, type ApiFailure } from "./failure.ts";

/** Who is logged in. */
export interface Session {
  readonly id: string;
  readonly version: string;
  readonly principal: string;
  readonly team: string | null;
  readonly roles: readonly string[];
  readonly mayManage: boolean;
  readonly endsAt: string;
}

export type SessionState =
  | { readonly kind: "looking" }
  | { readonly kind: "in"; readonly session: Session }
  /** Nobody is logged in; `was` is who was until now, whose page stays as it is. */
  | { readonly kind: "out"; readonly was: Session | undefined; readonly failure: ApiFailure | undefined }
  | { readonly kind: "unreachable"; readonly failure: ApiFailure };

const keyName = "toolyard-key";
/** The half of the session that pages of this origin alone can read; the cookie is the other. */
export const keyHeader = "Toolyard-Key";

let state: SessionState = { kind: "looking" };
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

export function readKey(): string | undefined {
  return localStorage.getItem(keyName) ?? undefined;
}

/** The code of a one-time link; taken out of the address at once, so that it is in no history and no screenshot. */
function takeCode(): string | undefined {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code === null) return undefined;
  history.replaceState(history.state, "", location.pathname + location.search);
  return code;
}

async function ask(method: "GET" | "POST" | "DELETE", body?: object): Promise<unknown> {
  const key = readKey();
  const response = await fetch("/api/session", {
    method,
    cache: "no-store",
    headers: {
      ...(method === "GET" ? {} : { "Content-Type": "application/json" }),
      ...(key === undefined || method === "POST" ? {} : { [keyHeader]: key }),
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

/** Looks who is logged in. Called at the start, and when another tab has logged in or out. */
export async function findSession(): Promise<void> {
  const was = state.kind === "in" ? state.session : state.kind === "out" ? state.was : undefined;
  const code = takeCode();
  try {
    if (code !== undefined) {
      await logIn({ code });
      return;
    }
    if (readKey() === undefined) become({ kind: "out", was, failure: undefined });
    else become({ kind: "in", session: (await ask("GET")) as Session });
  } catch (error) {
    const failure = toFailure(error);
    // A link that was opened twice: the browser is logged in already.
    if (code !== undefined && readKey() !== undefined && failure.status === 401) return await findSession();
    if (failure.status === 401 || failure.status === 403)
      become({ kind: "out", was, failure: code === undefined ? undefined : failure });
    else if (was === undefined) become({ kind: "unreachable", failure });
  }
}

/** The gateway does not know this session any more. What somebody has typed stays where it is. */
export function loseSession(): void {
  if (state.kind === "in") become({ kind: "out", was: state.session, failure: undefined });
}

export async function logOut(): Promise<void> {
  await ask("DELETE").catch(() => undefined);
  localStorage.removeItem(keyName);
  become({ kind: "out", was: undefined, failure: undefined });
}

/** Another tab logged in or out. */
export function followOtherTabs(): void {
  addEventListener("storage", ({ key }) => {
    if (key === keyName) void findSession();
  });
  addEventListener("hashchange", () => {
    if (location.hash.startsWith("#code=")) void findSession();
  });
}
