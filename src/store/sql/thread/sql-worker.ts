import { parentPort, workerData } from "node:worker_threads";
import { requireBuild } from "../../../kernel/runtime/late-module.ts";
import { Refused } from "../store-refusal.ts";
import { DriverMissing, loadDriver, NoRoomForDriver } from "../sqlite/sql-driver.ts";
import type { SqlReply, SqlRequest, SqlWorkerData } from "../sql-messages.ts";
import { createPostgresDatabase } from "./postgres-database.ts";
import { createSqliteDatabase, type SqliteDatabase } from "./sqlite-database.ts";

// The entry of the worker thread that `startSqlThread` starts. It ends by itself when it was told to close: one that
// is terminated in the middle of a statement takes the process down with it.
const port = parentPort;
if (port === null) throw new Error("this file runs as a worker thread only");
const data = workerData as SqlWorkerData;
requireBuild(data.buildId);

const say = (reply: SqlReply): void => port.postMessage(reply);
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
/** Everything one after the other, in the order in which it came. */
let work: Promise<void> = Promise.resolve();
let isClosing = false;
const timers = new Set<NodeJS.Timeout>();

function enqueue(job: () => Promise<void> | void): void {
  work = work.then(job);
}

function later(delayMs: number, job: () => Promise<void> | void): void {
  if (isClosing) return;
  const timer = setTimeout(() => {
    timers.delete(timer);
    enqueue(async () => (isClosing ? undefined : await job()));
  }, delayMs);
  timers.add(timer);
}

/** They may take seconds, and let others go first: rows that wait for them would be lost. */
const slow: ReadonlySet<string> = new Set(["verifyAudit", "calls", "eraseCalls"]);

function handle(desk: SqliteDatabase, request: SqlRequest): void {
  if (request.kind === "append")
    enqueue(async () => say({ kind: "appended", id: request.id, ...(await desk.append(request)) }));
  else if (request.kind === "close") enqueue(async () => await close(desk));
  else if (desk.isParallel) void answer(desk, request);
  else if (slow.has(request.name)) enqueue(() => void answer(desk, request));
  else enqueue(async () => await answer(desk, request));
}

async function answer(desk: SqliteDatabase, { id, name, text }: Extract<SqlRequest, { kind: "ask" }>): Promise<void> {
  try {
    say({ kind: "answer", id, text: await desk.ask(name, text) });
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    say({ kind: "refused", id, failure: error.refusal });
  }
}

async function close(desk: SqliteDatabase): Promise<void> {
  isClosing = true;
  for (const timer of timers) clearTimeout(timer);
  await desk.close();
  say({ kind: "closed" });
  port?.close();
}

function lookAgain(desk: SqliteDatabase): void {
  later(data.lookMs, async () => {
    await desk.look();
    lookAgain(desk);
  });
}

function retainAgain(desk: SqliteDatabase, delayMs: number): void {
  later(delayMs, async () => retainAgain(desk, (await tryRetain(desk)) ? data.pauseMs : data.retentionMs));
}

/** Writes the rows of one batch after the other, with room for others between them. */
function sortAgain(desk: SqliteDatabase, delayMs: number): void {
  later(delayMs, async () => sortAgain(desk, (await desk.sort()) ? data.pauseMs : data.lookMs / 5));
}

async function tryRetain(desk: SqliteDatabase): Promise<boolean> {
  try {
    return await desk.retain();
  } catch {
    // A problem shows itself to the next write; deleting can wait for the next round.
    return false;
  }
}

async function createDesk(): Promise<SqliteDatabase> {
  const onProblems = (): void => say({ kind: "problems", problems: desk.problems() });
  const { database } = data;
  const desk: SqliteDatabase =
    database === undefined
      ? createSqliteDatabase({
          driver: loadDriver(data.driverFolder),
          data,
          turn,
          onProblems,
          onUnwritten: (rows) => say({ kind: "unwritten", rows }),
        })
      : createPostgresDatabase({
          // Only here: it takes 10 MB.
          pg: await import("pg"),
          data: { ...data, database },
          turn,
          onProblems,
          onNews: (news) => say({ kind: "changed", news }),
          onSlot: (slot) => say({ kind: "slot", slot }),
        });
  return desk;
}

async function run(): Promise<void> {
  const early: SqlRequest[] = [];
  const keep = (request: SqlRequest): void => void early.push(request);
  port?.on("message", keep);
  const desk = await createDesk();
  enqueue(async () => {
    await desk.open();
    say({ kind: "opened", lastId: desk.lastId() });
  });
  port?.off("message", keep);
  for (const request of early) handle(desk, request);
  port?.on("message", (request: SqlRequest) => handle(desk, request));
  lookAgain(desk);
  sortAgain(desk, data.lookMs / 5);
  // Before it may be put to sleep again.
  retainAgain(desk, data.retentionMs / 2);
}

try {
  await run();
} catch (error) {
  const isFull = error instanceof NoRoomForDriver;
  if (!(error instanceof DriverMissing) && !isFull) throw error;
  say({ kind: "driverless", message: error.message, isFull });
  port.close();
}
