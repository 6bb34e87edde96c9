import { QueryClient, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, valueOf } from "./client.ts";
import { toFailure } from "./failure.ts";
import { onLiveEvent } from "./live.ts";
import { notify } from "./notices.ts";
import type { Approver, ToolEffect } from "../../../src/kernel/call/tool-effects.ts";
import type { OpenApi } from "../words/api-operation.ts";
import type { StateChange } from "../words/status.ts";
import { timeRanges, type TimedCount, type TimeRange } from "../words/time-range.ts";
import { sessionStore } from "./session.ts";
import { forgetArguments } from "./typed-arguments.ts";

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // Events say when something changed; this is for what no event tells.
      staleTime: 15_000,
      // What was refused stays refused. A gateway that does not answer is asked again when its stream is back.
      retry: (count, error) => toFailure(error).status >= 500 && count < 2,
      refetchOnWindowFocus: true,
      networkMode: "always",
    },
    mutations: { networkMode: "always" },
  },
});

/** How often memory and what else no event tells is read again: seldom, where nothing happens. */
const livelyMs = 15_000;
const quietMs = 60_000;
let lastEventMs = 0;
/** A node tells how it is with each renewal of its lease. */
const nodesMs = 3_000;

const hourMs = 3_600_000;
const countedSoonMs = 2_000;
/** After that it is not going to count: estimates stay until something else reads them again. */
const countedLooks = 15;

/** Who has not been used for so long is not used. */
export const lastUseDays = 30;

/** Searches that somebody keeps as tests. */
export const keptSearchesKey: readonly string[] = ["kept-searches"];

/** Each list by its name in the cache, which events invalidate. */
export const queries = {
  status: queryOptions({
    queryKey: ["status"],
    queryFn: async () => await valueOf(api.GET("/api/status")),
    // Not while the page is hidden. An idle one leaves the gateway alone.
    refetchInterval: () => (performance.now() - lastEventMs < quietMs ? livelyMs : quietMs),
  }),
  tools: queryOptions({
    queryKey: ["tools"],
    queryFn: async () => {
      const tools = [];
      for (let cursor: string | undefined; ;) {
        const query = { limit: 1_000, ...(cursor === undefined ? {} : { cursor }) };
        const page = await valueOf(api.GET("/api/tools", { params: { query } }));
        if (!("total" in page) || !Array.isArray(page.tools)) return tools;
        tools.push(...(page.tools as readonly ToolRow[]));
        cursor = page.next_cursor as string | undefined;
        if (cursor === undefined) return tools;
      }
    },
  }),
  tool: (path: string) =>
    queryOptions({
      queryKey: ["tools", path],
      queryFn: async () => await valueOf(api.GET("/api/tools/{path}", { params: { path: { path } } })),
    }),
  server: (slug: string) =>
    queryOptions({
      queryKey: ["status", "details", slug],
      queryFn: async () => await valueOf(api.GET("/api/servers/{slug}", { params: { path: { slug } } })),
    }),
  approvals: queryOptions({
    queryKey: ["approvals"],
    queryFn: async () => await valueOf(api.GET("/api/approvals")),
    // What waits expires without an event of its own.
    refetchInterval: quietMs,
  }),
  flowLabels: queryOptions({
    queryKey: ["flows"],
    queryFn: async () => await valueOf(api.GET("/api/flows")),
  }),
  grants: queryOptions({
    queryKey: ["grants"],
    queryFn: async () => await valueOf(api.GET("/api/grants")),
  }),
  definitions: queryOptions({
    queryKey: ["definitions"],
    queryFn: async () => await valueOf(api.GET("/api/definitions")),
  }),
  /** Of a server, or of an installation by its id. */
  definitionDiff: (server: string) =>
    queryOptions({
      queryKey: ["definitions", server],
      queryFn: async () => await valueOf(api.GET("/api/definitions/{server}/diff", { params: { path: { server } } })),
    }),
  pins: queryOptions({
    queryKey: ["pins"],
    queryFn: async () => await valueOf(api.GET("/api/pins")),
  }),
  tokens: queryOptions({
    queryKey: ["usage", "tokens"],
    queryFn: async () => await valueOf(api.GET("/api/usage/tokens")),
    // The first answer is an estimate: the gateway begins to count when somebody asks.
    refetchInterval: ({ state }) =>
      state.data?.flat.isExact === false && state.dataUpdateCount < countedLooks ? countedSoonMs : false,
  }),
  usage: (hours: number, by: string) =>
    queryOptions({
      queryKey: ["usage", hours, by],
      queryFn: async () => {
        const from = new Date(Date.now() - hours * 3_600_000).toISOString();
        return await valueOf(api.GET("/api/usage", { params: { query: { from, by } } }));
      },
    }),
  /** Calls and failures of a time, by the hour or finer. */
  callCounts: (range: TimeRange) =>
    queryOptions({
      queryKey: ["usage", "counts", range],
      queryFn: async () => (range === "hour" ? await countMinutes() : await countHours(timeRanges[range].hours)),
      // Time passes whether or not somebody calls.
      refetchInterval: quietMs,
    }),
  /** When each tool, instance or client was last used, as far back as one looks for it. */
  lastUse: (by: "tool" | "instance" | "client") =>
    queryOptions({
      queryKey: ["last-use", by],
      queryFn: async () => {
        const from = new Date(Date.now() - lastUseDays * 24 * 3_600_000).toISOString();
        return await valueOf(api.GET("/api/usage", { params: { query: { from, by, limit: 10_000 } } }));
      },
      // It looks at a month, and tells hours: no call is followed.
      refetchInterval: quietMs,
    }),
  nodes: queryOptions({
    queryKey: ["nodes"],
    queryFn: async () => await valueOf(api.GET("/api/nodes")),
    // Leases and loads pass without an event.
    refetchInterval: nodesMs,
  }),
  clients: queryOptions({
    queryKey: ["clients"],
    queryFn: async () => await valueOf(api.GET("/api/clients")),
    staleTime: 60_000,
  }),
  profiles: queryOptions({
    queryKey: ["profiles"],
    queryFn: async () => await valueOf(api.GET("/api/profiles")),
  }),
  sessions: queryOptions({
    queryKey: ["sessions"],
    queryFn: async () => await valueOf(api.GET("/api/sessions")),
  }),
  config: queryOptions({
    queryKey: ["config"],
    queryFn: async () => await valueOf(api.GET("/api/config")),
  }),
  toolRules: queryOptions({
    queryKey: ["config", "tool-rules"],
    queryFn: async () => await valueOf(api.GET("/api/tool-rules")),
  }),
  toolRule: (path: string) =>
    queryOptions({
      queryKey: ["config", "tool-rules", path],
      queryFn: async () => await valueOf(api.GET("/api/tools/{path}/rule", { params: { path: { path } } })),
    }),
  settings: queryOptions({
    queryKey: ["config", "settings"],
    queryFn: async () => await valueOf(api.GET("/api/config/settings")),
  }),
  previousConfig: queryOptions({
    queryKey: ["config", "previous"],
    queryFn: async () => await valueOf(api.GET("/api/config/previous")),
  }),
  configSchema: queryOptions({
    queryKey: ["config-schema"],
    queryFn: async () => await valueOf(api.GET("/api/config/schema")),
    staleTime: Number.POSITIVE_INFINITY,
  }),
  openapi: queryOptions({
    queryKey: ["openapi"],
    queryFn: async () => {
      const response = await fetch("/openapi.json");
      return (await response.json()) as OpenApi;
    },
    staleTime: Number.POSITIVE_INFINITY,
  }),
};

async function countHours(hours: number): Promise<readonly TimedCount[]> {
  const from = new Date(Date.now() - hours * hourMs).toISOString();
  const { usage } = await valueOf(api.GET("/api/usage", { params: { query: { from, by: "hour", limit: hours + 1 } } }));
  return usage.map(({ group, calls, errors }) => ({ atMs: Date.parse(group["hour"] ?? ""), calls, errors }));
}

/** More calls than these of before the start are not worth the reading. */
const mostBefore = 5_000;

/** Minutes are counted since the gateway was started. The calls of before, within the hour, are in the records. */
async function countMinutes(): Promise<readonly TimedCount[]> {
  const { since, minutes } = await valueOf(api.GET("/api/usage/minutes"));
  const counted = minutes.map(({ from, ...counts }) => ({ atMs: Date.parse(from), ...counts }));
  const fromMs = Date.now() - hourMs;
  const before: TimedCount[] = [];
  let isMore = Date.parse(since) > fromMs;
  for (let cursor: string | undefined; isMore && before.length < mostBefore;) {
    const query = { from: new Date(fromMs).toISOString(), to: since, limit: 1_000, ...(cursor ? { cursor } : {}) };
    // Without a store nothing of before is known.
    const page = await valueOf(api.GET("/api/calls", { params: { query } })).catch(() => undefined);
    for (const { time, outcome } of page?.calls ?? [])
      before.push({ atMs: Date.parse(time), calls: 1, errors: outcome === "ok" ? 0 : 1 });
    cursor = page?.nextCursor ?? undefined;
    isMore = cursor !== undefined;
  }
  return [...before, ...counted];
}

export interface ToolRow {
  readonly tool_path: string;
  readonly name: string;
  readonly title: string | null;
  readonly description: string | null;
  readonly server: string;
  readonly namespace: string;
  readonly read_only: boolean;
  readonly effect: ToolEffect;
  readonly asks: boolean;
  readonly approver: Approver | null;
  readonly decided_by: string | null;
  readonly annotations: unknown;
  readonly input: string;
  readonly upstream_name: string;
  readonly tokens: number;
  readonly tokens_exact: boolean;
}

/** What a change of this kind may have changed. Order matters: the first that fits. */
const touched: readonly (readonly [prefix: string, keys: readonly (readonly string[])[]])[] = [
  ["mcp.request.logs", [["calls"], ["usage"], ["status"]]],
  ["search.done", [["calls"]]],
  ["mcp.server.logs", [["logs"]]],
  ["mcp.tools.discovered", [["tools"], ["pins"], ["status"], ["usage"]]],
  ["mcp.server.", [["status"], ["resources"], ["prompts"]]],
  ["catalog.", [["tools"], ["status"], ["resources"], ["prompts"]]],
  ["config.", [["config"], ["status"], ["tools"], ["clients"]]],
  ["auth.", [["sessions"]]],
  ["node.", [["nodes"]]],
  ["instance.moved", [["nodes"], ["status"]]],
  ["approval", [["approvals"], ["grants"]]],
  ["definition.", [["definitions"], ["tools"], ["status"]]],
];

/** A state has to be on the screen soon; sums may come a little later, so that a burst of calls is read once. */
const soonMs = 100;
const laterMs = 1_000;

interface StatusChange {
  readonly instance: string | null;
  readonly time: string;
  /** Of another node: how the instance is here is read again. */
  readonly node?: string;
  readonly data: StateChange;
}

/** What the event itself says is on the screen before the whole is read again. */
function showStatus({ instance, time, node, data: { to, reason, step } }: StatusChange): void {
  if (node !== undefined) return;
  queryClient.setQueryData(queries.status.queryKey, (known) => {
    if (known === undefined) return known;
    const next = step === undefined ? null : { step, text: "", command: null };
    const servers = known.servers.map((row) =>
      row.instance === instance
        ? { ...row, status: to, dormant: false, reason: reason ?? "", since: time, retryAt: null, next }
        : row,
    );
    return { ...known, servers };
  });
}

/** Has the cache follow the gateway's events. */
export function followEvents(): void {
  const due = new Map<string, readonly string[]>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let flushedMs = 0;
  const flush = (): void => {
    timer = undefined;
    flushedMs = performance.now();
    for (const queryKey of due.values()) void queryClient.invalidateQueries({ queryKey });
    due.clear();
  };
  onLiveEvent(({ type, data }) => {
    lastEventMs = performance.now();
    if (type === "reset") {
      void queryClient.invalidateQueries();
      return;
    }
    const [, keys = []] = touched.find(([prefix]) => type.startsWith(prefix)) ?? [];
    for (const key of keys) due.set(key.join("/"), key);
    const isState = type.startsWith("mcp.server.") && type !== "mcp.server.logs";
    if (keys.length === 0) return;
    if (isState && timer !== undefined) {
      clearTimeout(timer);
      timer = undefined;
    }
    if (type === "mcp.server.status_changed") showStatus(JSON.parse(data) as StatusChange);
    // The first of a burst is read at once.
    const sinceMs = performance.now() - flushedMs;
    timer ??= setTimeout(flush, isState ? Math.max(0, soonMs - sinceMs) : laterMs);
  });
}

export interface OrderOptions<Given, Answer> {
  /** Queries that it may change, which are read again afterwards. */
  readonly changes: readonly (readonly string[])[];
  readonly onDone?: (answer: Answer) => void;
  /** The notice after it, with the order that takes it back; undefined for none. */
  readonly said?: (
    given: Given,
    answer: Answer,
  ) => { readonly text: string; readonly undo?: () => Promise<unknown> } | undefined;
}

/** Something that a person orders. What it may have changed is read again afterwards. */
export function useOrder<Given, Answer>(
  order: (given: Given) => Promise<Answer>,
  { changes, onDone, said }: OrderOptions<Given, Answer>,
) {
  const client = useQueryClient();
  const readAgain = async (): Promise<void> => {
    await Promise.all(changes.map(async (queryKey) => await client.invalidateQueries({ queryKey: [...queryKey] })));
  };
  return useMutation({
    mutationFn: order,
    onSuccess(answer, given) {
      onDone?.(answer);
      const notice = said?.(given, answer);
      if (notice === undefined) return;
      const { text, undo } = notice;
      const takeBack = async (): Promise<void> => {
        try {
          await undo?.();
        } finally {
          await readAgain();
        }
      };
      notify({ text, undo: undo && takeBack });
    },
    onSettled: readAgain,
  });
}

/** After a new login of the same person, data is read again; another person sees nothing of the one before. */
export function followSession(): void {
  let principal: string | undefined;
  sessionStore.subscribe(() => {
    const state = sessionStore.get();
    if (state.kind !== "in") return;
    const isSame = principal === state.session.principal;
    if (principal !== undefined) void (isSame ? queryClient.invalidateQueries() : queryClient.resetQueries());
    if (principal !== undefined && !isSame) forgetArguments();
    ({ principal } = state.session);
  });
}
