import type { Exposure, PinnedTools } from "../../catalog/exposure/exposure.ts";
import { estimateTokens } from "../../catalog/exposure/text/token-estimate.ts";
import { plainFlatName } from "../../catalog/model/names/names.ts";
import type { ToolEntry } from "../../catalog/model/snapshot.ts";
import type { View } from "../../catalog/model/view.ts";
import type { ClientProfile } from "../../config/rows/client-profiles.ts";
import type { CallContext } from "../../kernel/call/call-context.ts";
import { readClientName } from "../../kernel/client-presence.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import { createDaySpent, type DaySpent } from "./finding-spent.ts";
import type { ListCosts } from "./list-costs.ts";

/** Measures what clients save and spend because they find tools instead of listing them all. */
export interface FindingMeter {
  /** A client asked for the first page of the list of tools: its model reads it when the conversation begins. */
  listed(from: Sender, list: ListedTools): void;
  /** The text of an answer of discover_mcp_tools. */
  answered(from: Sender, text: string): void;
  /** A tool was called through execute_mcp_tool instead of by its flat name. */
  wrapped(from: Sender, tool: ToolEntry): void;
}

/** By whom a request was sent, as far as it tells sessions apart. */
export type Sender = Pick<CallContext, "principal" | "client" | "connected">;

export interface ListedTools {
  readonly view: View;
  readonly exposure: Exposure;
  readonly client: ClientProfile | undefined;
  /** Of the servers' tools, those in the list beside ours. */
  readonly pinned?: PinnedTools | undefined;
}

/** One conversation of a client, as far as the gateway can tell. */
export interface FindingSession {
  readonly principal: string;
  /** What it calls itself; null when it does not say. */
  readonly client: string | null;
  readonly exposure: string;
  /** Wall clock. */
  readonly startedMs: number;
  /**
   * Whether the client keeps definitions from its model automatically, so that the tokens it would have read are
   * unknown.
   */
  readonly isLazy: boolean;
  /** Flat list less this one, when it began; undefined until it is known. */
  readonly saved: { readonly tokens: number; readonly isExact: boolean } | undefined;
  readonly spent: number;
}

export interface Finding extends FindingMeter, Disposable {
  readonly today: DaySpent["today"];
  /** The newest sessions that listed tools, oldest first. */
  sessions(): readonly FindingSession[];
}

export interface FindingDeps {
  readonly clock: Clock;
  readonly costs: Pick<ListCosts, "of" | "flat" | "prepare">;
}

/** Sessions that are remembered. The oldest are forgotten. */
const mostSessions = 1_000;
/** Without a connection that begins and ends, a client that was silent for so long begins a new conversation. */
const silenceMs = 1_800_000;
/** The cost of lists is estimated after their requests are answered, and after the gateway has come up. */
const settleMs = 5_000;

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

interface Session extends Mutable<FindingSession> {
  lastMs: number;
  /**
   * Weak, because a session must not keep an old catalog alive: counting while this view is still in use makes the
   * estimate exact.
   */
  readonly view: WeakRef<View>;
  readonly list: Pick<ListedTools, "exposure" | "client" | "pinned">;
}

/** Nothing that it does for a call makes an object or looks at a text, but for an answer of discover_mcp_tools. */
export function createFinding({ clock, costs }: FindingDeps): Finding {
  const open = createOpenSessions(clock);
  const spending = createDaySpent(clock);
  const wrappings = new WeakMap<ToolEntry, number>();
  let sessions: Session[] = [];
  /** Views in which lists were asked for since the last look, and how to forget that there is one to come. */
  let listedIn = new Set<View>();
  let cancelLook: (() => void) | undefined;

  async function look(): Promise<void> {
    const views = listedIn;
    listedIn = new Set();
    cancelLook = undefined;
    for (const view of views) await costs.prepare(view);
    price(costs, sessions);
  }

  return {
    listed(from, list) {
      const { view, exposure } = list;
      if (exposure.isTransparent || open.find(from) !== undefined) return;
      const session = toSession(from, list, clock.now());
      open.add(from, session);
      sessions.push(session);
      if (sessions.length > 2 * mostSessions) sessions = sessions.slice(-mostSessions);
      listedIn.add(view);
      cancelLook ??= clock.after(settleMs, () => void look());
    },
    answered(from, text) {
      const tokens = estimateTokens(text);
      const spent = spending.of(from.principal.id);
      spent.answers += 1;
      spent.answerTokens += tokens;
      const session = open.find(from);
      if (session !== undefined) session.spent += tokens;
    },
    wrapped(from, tool) {
      let tokens = wrappings.get(tool);
      // It is an estimate: names that differ in their last letters cost the same.
      if (tokens === undefined) wrappings.set(tool, (tokens = wrappingOf(tool.path, plainFlatName(tool))));
      const spent = spending.of(from.principal.id);
      spent.wrappedCalls += 1;
      spent.wrappingTokens += tokens;
      const session = open.find(from);
      if (session !== undefined) session.spent += tokens;
    },
    today: spending.today,
    sessions() {
      price(costs, sessions);
      return sessions.slice(-mostSessions);
    },
    [Symbol.dispose]: () => cancelLook?.(),
  };
}

function toSession(from: Sender, { view, exposure, client, pinned }: ListedTools, nowMs: number): Session {
  return {
    principal: from.principal.id,
    client: nameOf(from) ?? null,
    exposure: exposure.name,
    startedMs: nowMs,
    isLazy: client?.loadsLazily === true,
    saved: undefined,
    spent: 0,
    lastMs: nowMs,
    view: new WeakRef(view),
    list: { exposure, client, pinned },
  };
}

/** Says what sessions saved, as well as it is known now. Many of them began with the same list. */
function price(costs: Pick<ListCosts, "of" | "flat">, sessions: readonly Session[]): void {
  const known = new Map<View, { readonly list: Session["list"]; readonly saved: FindingSession["saved"] }[]>();
  for (const session of sessions) {
    const view = session.saved?.isExact === true ? undefined : session.view.deref();
    if (view === undefined) continue;
    const { exposure, client, pinned } = session.list;
    let lists = known.get(view);
    if (lists === undefined) known.set(view, (lists = []));
    let priced = lists.find(
      ({ list }) => list.exposure === exposure && list.client === client && list.pinned?.key === pinned?.key,
    );
    if (priced === undefined) {
      const flat = costs.flat(view);
      const here = costs.of(view, exposure, { client, pinned });
      const saved = { tokens: flat.tokens - here.tokens, isExact: flat.isExact && here.isExact };
      lists.push((priced = { list: session.list, saved }));
    }
    session.saved = priced.saved;
  }
}

/** What a model writes more than for a call by the flat name: the arguments themselves are the same. */
export function wrappingOf(path: string, flatName: string): number {
  const wrapped = `{"name":"execute_mcp_tool","arguments":{"tool_path":${JSON.stringify(path)},"arguments":{}}}`;
  return estimateTokens(wrapped) - estimateTokens(`{"name":${JSON.stringify(flatName)},"arguments":{}}`);
}

function nameOf({ client }: Sender): string | undefined {
  return client.name ?? readClientName(client.info);
}

interface OpenSessions {
  find(from: Sender): Session | undefined;
  add(from: Sender, session: Session): void;
}

/** Programs of one person that come without a connection: each name that a client gives itself is one. */
const mostPrograms = 100;

/** The sessions that may go on, by connection, or by person and program. */
function createOpenSessions(clock: Pick<Clock, "now">): OpenSessions {
  const byConnection = new WeakMap<object, Session>();
  const byPrincipal = new WeakMap<object, Map<string | undefined, Session>>();
  return {
    find(from) {
      if (from.connected !== undefined) return byConnection.get(from.connected);
      const session = byPrincipal.get(from.principal)?.get(nameOf(from));
      if (session === undefined) return undefined;
      const nowMs = clock.now();
      if (nowMs - session.lastMs > silenceMs) return undefined;
      session.lastMs = nowMs;
      return session;
    },
    add(from, session) {
      if (from.connected !== undefined) {
        byConnection.set(from.connected, session);
        return;
      }
      let programs = byPrincipal.get(from.principal);
      if (programs === undefined) byPrincipal.set(from.principal, (programs = new Map()));
      if (programs.size >= mostPrograms) programs.clear();
      programs.set(nameOf(from), session);
    },
  };
}
