import { expect, test } from "vitest";
import type { GatewayStatus, ServerStatus } from "../../records/gateway-status.ts";
import { toServerTable, toStatusLines } from "./status-text.ts";

const nowMs = Date.parse("2026-11-22T12:00:00Z");

const github: ServerStatus = {
  server: "github",
  instance: "github",
  owner: null,
  title: "github",
  category: null,
  status: "online",
  dormant: false,
  word: "online",
  reason: "It is online.",
  since: null,
  retryAt: null,
  next: null,
  transport: "stdio",
  era: "legacy",
  revision: "2025-11-25",
  tools: 93,
  tokens: 22_410,
  tokensExact: true,
  calls: 18,
  errors: 1,
  p95Ms: 340,
  memoryBytes: 50 * 1024 ** 2,
  node: null,
  pid: 77,
  replicas: null,
  oddities: [],
};

const idle = { tools: 0, tokens: 0, tokensExact: true, calls: 0, errors: 0, p95Ms: null, memoryBytes: null, pid: null };

function statusOf(servers: readonly ServerStatus[], more: Partial<GatewayStatus> = {}): GatewayStatus {
  return {
    version: "1",
    startedAt: "",
    uptimeMs: 8_040_000,
    pid: 1,
    configFile: null,
    addresses: [],
    configProblem: null,
    restart: null,
    unready: null,
    store: { status: "ready", problems: [], waitingRows: 0, droppedRows: 0 },
    counts: { servers: servers.length, tools: 93, calls: 31, errors: 1, byStatus: {} },
    servers,
    ...more,
  };
}

test("a gateway is one line, and a table of its servers with what to do about them", () => {
  const linear: ServerStatus = {
    ...github,
    ...idle,
    server: "linear",
    instance: "linear",
    status: "requires_reauth",
    word: "needs login",
    reason: "linear: needs\u001b[2J a login",
    next: { step: "log-in", text: "Log in.", command: "toolyard login linear" },
  };
  const asleep: ServerStatus = { ...github, ...idle, server: "fs", instance: "fs", dormant: true, word: "asleep" };
  const again: ServerStatus = {
    ...github,
    ...idle,
    server: "db",
    instance: "db",
    status: "restarting",
    word: "restarting",
    reason: "",
    retryAt: "2026-11-22T12:00:04Z",
  };
  expect(toStatusLines(statusOf([github, linear, asleep, again]), nowMs).join("\n")).toMatchInlineSnapshot(`
    "  up 2.2 h, 4 servers, 93 tools, 31 calls in 24 h, 1 failed
      SERVER  STATUS                     TOOLS  TOKENS  CALLS     P95  MEMORY  PROCESS  NEXT
      linear  needs login                    -       -      -       -       -        -  toolyard login linear  # linear: needs [2J a login
      github  online                        93  22,410     18  340 ms   50 MB       77
      fs      asleep (a call starts it)      -       -      -       -       -        -
      db      restarting (in 4 s)            -       -      -       -       -        -"
  `);
});

test("what servers do that was mended is told below the table, with nothing that a terminal would obey", () => {
  const odd = { ...github, oddities: ["1 tool has an odd definition: x\u001b[2J (title is null)"] };
  const line = "github: 1 tool has an odd definition: x [2J (title is null)";
  expect(toStatusLines(statusOf([odd]), nowMs).at(-1)).toBe(`  ${line}`);
  expect(toServerTable([odd], nowMs).at(-1)).toBe(line);
});

test("what is wrong with the gateway stands before its servers, and there is no table without servers", () => {
  const damaged = { database: "state", kind: "damaged", message: "state.db is damaged", hint: "Mend it." } as const;
  const full = { database: "records", kind: "full", message: "there is no room", hint: "Make some." } as const;
  const store = { status: "degraded", problems: [damaged, full], waitingRows: 0, droppedRows: 12_345 } as const;
  expect(
    toStatusLines(statusOf([], { restart: "files are gone", unready: "state.db is damaged. Mend it.", store }), nowMs),
  ).toEqual([
    "  up 2.2 h, 0 servers, 93 tools, 31 calls in 24 h, 1 failed",
    "  restart it: files are gone",
    "  not ready: state.db is damaged. Mend it.",
    "  records: there is no room. Make some.",
    "  12,345 records lost since the start",
  ]);
});
