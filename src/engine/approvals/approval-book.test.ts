import { expect, test } from "vitest";
import type { InstanceId, PrincipalId, ServerSlug, ToolPath } from "../../kernel/ids.ts";
import type { ApprovedCall, KeptApprovals } from "../../store/approval-rows.ts";
import { openApprovalBook, type ApprovalBook } from "./approval-book.ts";

const call = (principal: string, id: number): ApprovedCall => ({
  ...{ principal: principal as PrincipalId, team: null, client: "c", session: null, server: "s" as ServerSlug },
  ...{ instance: "s" as InstanceId, tool: "s:t" as ToolPath, definition: "d", binding: `${principal} ${id}` },
  ...{ effect: "destroy", because: "", approver: "self", user: null, roles: [], args: "x".repeat(2_000), isCut: false },
});

interface Told {
  readonly book: ApprovalBook;
  readonly written: KeptApprovals[];
}

async function open(write: (kept: KeptApprovals) => Promise<void> = async () => undefined): Promise<Told> {
  const written: KeptApprovals[] = [];
  const book = await openApprovalBook({
    store: {
      read: async () => ({ approvals: [], grants: [] }),
      async write(kept) {
        await write(kept);
        written.push(kept);
        return true;
      },
    },
    clock: { now: () => 1_000, after: () => () => undefined },
    settings: () => ({ validMs: 60_000, sessionMs: 60_000, waiting: 20 }),
    onChange: () => undefined,
  });
  return { book, written };
}

test("a flood of one person's calls takes no other person's, and is written a few times", async () => {
  const { book, written } = await open();
  const { approval } = await book.ask(call("ann", 0));
  await book.decide(approval.id, "once", { by: "ann", via: "owner" });
  await book.ask(call("ann", 1));
  await Promise.all(Array.from({ length: 5_000 }, async (_one, at) => await book.ask(call("bob", at))));
  const states = book.approvals.filter(({ principal }) => principal === "ann").map(({ state }) => state);
  expect(states).toEqual(["waiting", "granted"]);
  expect(await book.take(call("ann", 0))).toBe(true);
  const ofBob = book.approvals.filter(({ principal }) => principal === "bob");
  expect(ofBob.filter(({ state }) => state === "waiting")).toHaveLength(20);
  expect(ofBob.length).toBeLessThanOrEqual(120);
  // Arguments of those that are over are for a glance.
  for (const { state, args } of ofBob) expect(args.length).toBeLessThanOrEqual(state === "waiting" ? 2_000 : 1_000);
  expect(written.length).toBeLessThan(10);
});

test("of what one person has said yes to for longer, the newest is remembered, and everybody else's", async () => {
  const { book } = await open();
  const remember = async (principal: string, tool: string): Promise<void> => {
    const { approval } = await book.ask({ ...call(principal, 0), tool: tool as ToolPath, binding: principal + tool });
    await book.decide(approval.id, "always", { by: principal, via: "owner" });
  };
  await remember("ann", "s:first");
  for (let at = 0; at < 510; at += 1) await remember("bob", `s:t${at}`);
  expect(book.grants).toHaveLength(501);
  const covers = (principal: string, tool: string): boolean =>
    book.covers({ ...call(principal, 0), tool: tool as ToolPath });
  expect([covers("ann", "s:first"), covers("bob", "s:t509"), covers("bob", "s:t10"), covers("bob", "s:t0")]).toEqual([
    true,
    true,
    true,
    false,
  ]);
});

test("what cannot be written is not done, and the next change is", async () => {
  let isFull = true;
  const { book } = await open(async () => {
    if (isFull) throw new Error("no room");
    await Promise.resolve();
  });
  await expect(book.ask(call("ann", 1))).rejects.toThrow("no room");
  expect(book.approvals).toEqual([]);
  isFull = false;
  const { approval } = await book.ask(call("ann", 1));
  await book.decide(approval.id, "once", { by: "ann", via: "owner" });
  isFull = true;
  await expect(book.take(call("ann", 1))).rejects.toThrow("no room");
  isFull = false;
  expect(await Promise.all([book.take(call("ann", 1)), book.take(call("ann", 1))])).toEqual([true, false]);
});

test("a wait that was given up ends at once", async () => {
  const { book } = await open();
  const { approval } = await book.ask(call("ann", 1));
  const settled = await book.settled(approval.id, 600_000, AbortSignal.abort());
  expect(settled?.state).toBe("waiting");
});
