import { Link, Outlet, useRouterState } from "@tanstack/react-router";
import { LogOut, Menu, Search, UserRound } from "lucide-react";
import { lazy, Suspense, useEffect, useState, useSyncExternalStore, type ReactNode } from "react";
import { liveStore, type LiveState } from "./api/live.ts";
import { chooseTeam, logOut, sessionStore, type Session } from "./api/session.ts";
import { Who } from "./api/who.ts";
import { Keys } from "./keys.tsx";
import { Login, LoginAgain } from "./login.tsx";
import { Button } from "./parts/basic/button.tsx";
import { SelectField } from "./parts/forms/field.tsx";
import { Notices } from "./parts/frame/notices.tsx";
import { ThemeSwitch } from "./parts/frame/theme-switch.tsx";
import { Page } from "./parts/page.tsx";
import { Empty, FailureNote, Skeleton } from "./parts/basic/states.tsx";
import { pagesFor, type PageRow } from "./pages-list.ts";
import { plain } from "./words/format.ts";

const loadPalette = async () => ({ default: (await import("./parts/frame/palette.tsx")).Palette });
const Palette = lazy(loadPalette);

/** Where pages are listed whose address does not begin with that of the list. */
const parents: ReadonlyMap<string, string> = new Map([
  ["/teams", "/people"],
  ["/run", "/tools"],
]);

/** Around every page: who may see it, where one is, and whether it shows the present state. */
export function Frame() {
  const state = useSyncExternalStore(sessionStore.subscribe, sessionStore.get);
  if (state.kind === "looking")
    return (
      <main className="alone">
        <Skeleton />
      </main>
    );
  if (state.kind === "unreachable")
    return (
      <main className="alone">
        <h1>Toolyard</h1>
        <FailureNote error={state.failure} onRetry={() => location.reload()} />
      </main>
    );
  if (state.kind === "out" && state.was === undefined) return <Login failure={state.failure} ways={state.ways} />;
  const session = state.kind === "in" ? state.session : state.was;
  return (
    <>
      {session !== undefined && (
        <Shell session={session}>
          <Outlet />
        </Shell>
      )}
      {state.kind === "out" && <LoginAgain ways={state.ways} />}
    </>
  );
}

function Shell({ session, children }: { readonly session: Session; readonly children: ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  const [isSearching, setSearching] = useState(false);
  const { use, run } = pagesFor(session);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  useEffect(() => setOpen(false), [path]);
  // Ready before somebody types into it.
  useEffect(() => void loadPalette().catch(() => undefined), []);
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <header className="side">
        <div className="brand">
          <Link to="/" className="brand-name">
            <span className="brand-mark" aria-hidden>
              T
            </span>
            Toolyard
          </Link>
          <button
            type="button"
            className="button plain menu"
            aria-expanded={isOpen}
            aria-controls="navigation"
            onClick={() => setOpen(!isOpen)}
          >
            <Menu aria-hidden size={18} />
            <span className="hidden">Menu</span>
          </button>
        </div>
        <div id="navigation" className={isOpen ? "navigation open" : "navigation"}>
          <button type="button" className="find" onClick={() => setSearching(true)}>
            <Search aria-hidden size={15} />
            <span className="grow">Search or do</span>
            <kbd>Ctrl K</kbd>
          </button>
          <nav aria-label="Use">
            {use.map((item) => (
              <Item key={item.to} page={item} />
            ))}
          </nav>
          {run.length > 0 && (
            <nav aria-label="Run">
              <p className="nav-title" aria-hidden>
                Run
              </p>
              {run.map((item) => (
                <Item key={item.to} page={item} />
              ))}
            </nav>
          )}
          <div className="side-foot">
            <WhoIsIt session={session} />
            <div className="side-row">
              <LiveMark />
              <ThemeSwitch />
            </div>
            <p className="muted">Toolyard {session.version}</p>
          </div>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        <LostNote />
        <Who.Provider value={session}>
          {children}
          {isSearching && (
            <Suspense fallback={null}>
              <Palette onClose={() => setSearching(false)} />
            </Suspense>
          )}
        </Who.Provider>
      </main>
      <Notices />
      <Keys session={session} onSearch={() => setSearching(true)} />
    </div>
  );
}

/** Who works here, and in which of their teams. */
function WhoIsIt({ session }: { readonly session: Session }) {
  const name = plain(session.user ?? session.principal);
  return (
    <>
      <div className="side-row">
        {session.hasPeople && session.user !== null ? (
          <Link to="/me" className="nav-item own" activeProps={{ "aria-current": "page" }}>
            <UserRound aria-hidden size={15} />
            {name}
          </Link>
        ) : (
          <p className="muted">{name}</p>
        )}
        <Button look="plain" onClick={() => void logOut()}>
          <LogOut aria-hidden size={14} /> Log out
        </Button>
      </div>
      {session.isPerson && session.teams.length > 1 ? (
        <SelectField
          label="Team"
          choices={session.teams.map(({ team, title }) => [team, plain(title === "" ? team : title)] as const)}
          value={session.team ?? ""}
          onChange={({ target }) => chooseTeam(target.value)}
        />
      ) : (
        session.team !== null && <p className="muted">Team {plain(session.team)}</p>
      )}
    </>
  );
}

function Item({ page: { to, label, icon: Icon } }: { readonly page: PageRow }) {
  // The page of a tool or a team is below the list that leads to it, whatever its address.
  const isBelow = useRouterState({
    select: ({ location: { pathname } }) => parents.get(`/${pathname.split("/")[1]}`) === to,
  });
  return (
    <Link
      to={to}
      className="nav-item"
      activeOptions={{ exact: to === "/" }}
      activeProps={{ "aria-current": "page" }}
      {...(isBelow ? { "aria-current": "page" } : {})}
    >
      <Icon aria-hidden size={15} />
      {label}
    </Link>
  );
}

const liveWords: Readonly<Record<LiveState, string>> = {
  connecting: "Connecting",
  live: "Live",
  lost: "Not connected",
};

function LiveMark() {
  const live = useSyncExternalStore(liveStore.subscribe, liveStore.get);
  return (
    <p className={`live ${live}`} role="status">
      {liveWords[live]}
    </p>
  );
}

/** The screen may be out of date by now. Shown only after a while: a restart takes a moment. */
function LostNote() {
  const live = useSyncExternalStore(liveStore.subscribe, liveStore.get);
  if (live !== "lost") return null;
  return (
    <p className="note warn" role="status">
      The gateway does not answer. This page shows the last known state, and reconnects automatically.
    </p>
  );
}

/** Where a tab ends that somebody logged in again with. */
export function LoggedIn() {
  return (
    <Page title="You are logged in again">
      <p>Go back to the tab that you came from: it continues where it was. You can close this one.</p>
    </Page>
  );
}

export function UnknownPage() {
  return (
    <Page title="There is no such page">
      <Empty title="Nothing is at this address">
        <p>
          <Link to="/">Go to the overview</Link>
        </p>
      </Empty>
    </Page>
  );
}

/** A page that could not be loaded, because the gateway has ended or was replaced, or that failed itself. */
export function BrokenPage({ error }: { readonly error: unknown }) {
  return <FailureNote error={error} onRetry={() => location.reload()} />;
}
