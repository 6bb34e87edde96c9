import { createHash } from "node:crypto";
import type { ToolEntry } from "../../catalog/model/snapshot.ts";
import type { InstanceId } from "../../kernel/ids.ts";
import type { CallArguments, CallContext } from "../../kernel/call/call-context.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Approver } from "../../kernel/call/tool-effects.ts";
import { clientNameOf } from "../../kernel/client-presence.ts";
import { abortReason } from "../../kernel/runtime/abort.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import { toJsonBytes, type JsonObject } from "../../kernel/text/json-bytes.ts";
import { createSemaphore, type Semaphore } from "../../kernel/runtime/semaphore.ts";
import { ExactNumber, parseExact, stringifyExact } from "../../wire/json/exact-json.ts";
import { canAnswer } from "../calls/questions/questions.ts";
import type { Decision } from "../policy/decide.ts";
import type { Approval, ApprovedCall } from "../../store/approval-rows.ts";
import { grantKinds } from "../../store/approval-rows.ts";
import { mayLast, type ApprovalBook } from "./approval-book.ts";
import { questionParams, readAnswer, reviewArguments, type ClientAnswer } from "./approval-question.ts";

/** A call that needs a person's yes. */
export interface PendingCall {
  readonly tool: ToolEntry;
  readonly instance: InstanceId;
  readonly given: CallArguments;
  readonly decision: Decision;
  readonly context: CallContext;
}

/** Resolves when the call may run. */
export type Approve = (call: PendingCall) => Promise<void>;

export interface ApproverDeps {
  readonly book: ApprovalBook;
  readonly settings: () => { readonly holdMs: number; readonly minAnswerMs: number };
  /** Takes secrets out of JSON: known ones, those that look like keys, and those that a schema or a name marks. */
  readonly redact: (json: string, schema?: JsonObject) => string;
  /** The page of the dashboard on which a person decides; undefined where the gateway has no address. */
  readonly pageOf: (id: string) => string | undefined;
  readonly clock: Pick<Clock, "monotonic">;
}

/** A client is asked one thing at a time; so many more calls may wait for their turn. */
const mostQueued = 20;
/** A client that is asked more often in a minute has its calls wait in the inbox at once. */
const mostInMinute = 5;
const minuteMs = 60_000;
/** Members of larger arguments are not sorted before they are hashed. */
const sortedUpToBytes = 1_048_576;

/**
 * Has a person say yes to a call: by a question to the client, and where no answer comes from there, by the inbox.
 * Rejects with APPROVAL_DENIED, and with APPROVAL_NEEDED where it is not decided yet; the same call again finds what
 * was decided meanwhile.
 */
export function createApprover(deps: ApproverDeps): Approve {
  const askOne = createClientQuestions(deps);

  return async (call) => {
    const { book, settings, clock } = deps;
    const { context } = call;
    const approved = toApproved(call, deps.redact);
    // A state that is not this gateway's, or is of another call, is refused when the call goes on.
    if (context.requestState !== undefined && book.isUnderWay(approved.binding)) return;
    if (book.covers(approved) || (await book.take(approved))) return;
    if (book.find(approved.binding)?.state === "denied") throw denied(call);
    const { approval, isNew } = await book.ask(approved);
    const startedMs = clock.monotonic();
    try {
      // Of equal calls at once, one asks.
      const answer = isNew ? await askOne(call, approval) : undefined;
      if (answer !== undefined) {
        const decider = { by: context.principal.id, via: "client" };
        await book.decide(approval.id, answer, decider).catch(ignoreDecided);
      }
      // A person may have decided in the inbox meanwhile, which counts as well.
      const holdMs = isHeld(context) ? settings().holdMs : 0;
      const settled = await book.settled(approval.id, holdMs, context.signal);
      // A yes is not used up by a call whose client has left.
      if (context.signal.aborted) throw abortReason(context.signal);
      if ((await book.take(approved)) || book.covers(approved)) return;
      if (settled?.state === "denied") throw denied(call);
      // It has expired, or an equal call has used the yes up: this one waits under another id.
      const waiting = settled?.state === "waiting" ? approval : (await book.ask(approved)).approval;
      throw needed(call, waiting, deps.pageOf(waiting.id));
    } finally {
      context.waitedMs += clock.monotonic() - startedMs;
    }
  };
}

/** Programs, and people who type commands, are told at once. */
function isHeld({ via }: CallContext): boolean {
  return via !== "rest" && via !== "process" && via !== "owner";
}

/** It was decided, or has expired, while the client was asked: the book says how. */
function ignoreDecided(error: unknown): void {
  if (!(error instanceof GatewayError && error.code === "APPROVAL_UNKNOWN")) throw error;
}

function toApproved(
  { tool, instance, given, decision, context }: PendingCall,
  redact: ApproverDeps["redact"],
): ApprovedCall {
  const { id: principal, team, user, roles } = context.principal;
  const { approver } = decision;
  // A yes to the tool is none to a call that asks for another reason as well.
  const definition = [tool.hash, ...(context.doubts ?? []).map(({ kind }) => kind)].join(" ");
  const hash = createHash("sha256");
  // A separator that no part can contain.
  for (const part of [principal, instance, tool.upstreamName, definition]) hash.update(`${part}\n`);
  // A yes of one is none of somebody above.
  if (approver !== "self") hash.update(`${approver}\n`);
  return {
    ...{ principal, team, user, roles, approver, instance, server: tool.server, tool: tool.path, definition },
    ...{ client: clientNameOf(context) ?? context.via, session: context.connected?.id ?? null },
    binding: hash.update(canonical(given)).digest("hex"),
    ...{ effect: decision.effect, because: decision.because },
    ...reviewArguments(given.value, (json) => redact(json, tool.definition.inputSchema)),
  };
}

/** The same for arguments that mean the same: members in order, numbers as they were written. */
function canonical({ bytes }: CallArguments): string | Buffer {
  if (bytes === undefined) return "{}";
  if (bytes.length > sortedUpToBytes) return bytes;
  return stringifyExact(sorted(parseExact(bytes.toString("utf8"))));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null || value instanceof ExactNumber) return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, member]) => [key, sorted(member)]));
}

function denied({ tool }: PendingCall): GatewayError {
  return new GatewayError("APPROVAL_DENIED", `a person said no to this call of ${tool.path}`);
}

function needed(
  { tool, decision }: PendingCall,
  { id, expiresAtMs, approver, team }: Approval,
  page: string | undefined,
): GatewayError {
  const until = new Date(expiresAtMs).toISOString();
  const where = page === undefined ? "" : `open ${page}, or `;
  const whose = approver === "self" ? "a person's yes" : `the yes of ${approverText(approver, team)}`;
  const who =
    approver === "self"
      ? `Tell the person to ${where}run`
      : `Tell the person that ${approverText(approver, team)}, who is not the one that asks, has to ${where}run`;
  return new GatewayError(
    "APPROVAL_NEEDED",
    `${tool.path} was not called: it needs ${whose} (${decision.effect}: ${decision.because})`,
    {
      hint:
        `${who} \`toolyard approvals allow ${id}\`, until ${until}. ` +
        "Then make the same call again; do not try another way.",
      data: { approval: id, approver, expiresAt: until, ...(page === undefined ? {} : { page }) },
    },
  );
}

/** Who may say yes, as the object of a sentence. */
function approverText(approver: Approver, team: string | null): string {
  return approver === "team-admin" && team !== null ? `an admin of the team ${team}` : "an admin of the gateway";
}

/** Asks clients, one thing after the other, and not more often than a person can read. */
function createClientQuestions({ settings, pageOf, clock }: ApproverDeps) {
  const clients = new Map<string, { readonly turn: Semaphore; times: readonly number[] }>();

  /** Undefined: there is no answer, or no one to ask. */
  return async (call: PendingCall, approval: Approval): Promise<ClientAnswer> => {
    const { context } = call;
    // The person who asks is at the client; somebody else has to say yes.
    if (approval.approver !== "self") return undefined;
    // The program that holds the token of such a request could answer for the person.
    if (context.via === "rest" || context.via === "process") return undefined;
    const kinds = grantKinds.filter((kind) => mayLast(approval, kind));
    const page = pageOf(approval.id) ?? `toolyard approvals show ${approval.id}`;
    const params = questionParams({
      ...{ ...approval, tool: call.tool.upstreamName, kinds, page },
      given: JSON.parse(approval.args) as unknown,
    });
    if (context.ask === undefined || !canAnswer(context.client.capabilities, "elicitation/create", params))
      return undefined;
    const key = JSON.stringify([approval.principal, approval.client, approval.session]);
    const client = clients.get(key) ?? { turn: createSemaphore(1), times: [] };
    const nowMs = clock.monotonic();
    client.times = client.times.filter((atMs) => atMs > nowMs - minuteMs);
    if (client.times.length >= mostInMinute || client.turn.waiting >= mostQueued) return undefined;
    client.times = [...client.times, nowMs];
    clients.set(key, client);
    if (clients.size > mostClients) clients.delete(clients.keys().next().value ?? "");
    const release = await client.turn.acquire(context.signal);
    try {
      const askedMs = clock.monotonic();
      const question = { method: "elicitation/create", params: toJsonBytes(params) } as const;
      const answer = await context.ask(question, context.signal);
      // No person has read the question by then.
      if (clock.monotonic() - askedMs < settings().minAnswerMs) return undefined;
      return answer.kind === "result" ? readAnswer(answer.result, kinds) : undefined;
    } catch (error) {
      if (context.signal.aborted) throw error;
      return undefined;
    } finally {
      release();
    }
  };
}

const mostClients = 10_000;
