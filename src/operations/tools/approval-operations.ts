import * as z from "zod";
import { grantKinds, type Approval, type Grant } from "../../store/approval-rows.ts";
import { ownRecords, ownWork, usingServers } from "../../engine/policy/rights.ts";
import { approveScope, isApproving } from "../../engine/policy/scopes.ts";
import { approvers, toolEffects } from "../../kernel/call/tool-effects.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { isApprover, type Principal } from "../../kernel/principal.ts";
import { operation, type Operation, type OperationRequest } from "../operation.ts";
import { done } from "../reply.ts";
import { answers } from "../responses.ts";
import * as schemas from "../schemas.ts";
import type { Services } from "../services.ts";

const tag = "Approvals";
const effect = z.enum(toolEffects).describe("What the gateway says the tool does.");
const about = {
  id: z.string(),
  tool: z.string().describe("Its path."),
  server: z.string(),
  instance: z.string(),
  person: z.string(),
  client: z.string().describe("What the client calls itself."),
};

const approvalJson = z
  .object({
    ...about,
    state: z.enum(["waiting", "granted", "used", "denied", "expired"]),
    effect,
    because: z.string().describe("Why it has that effect."),
    approver: z.enum(approvers).describe("Who may decide: the person, or an admin of the team or the gateway."),
    team: schemas.nullableText.describe("Of the person."),
    personName: schemas.nullableText.describe("What the person is called, where that is another than the id."),
    mayDecide: z.boolean().describe("Whether you may: with a login in a browser, or in a terminal of the machine."),
    arguments: z.string().describe("As JSON, without secrets; long texts and lists in it are cut."),
    cut: z.boolean().describe("Whether something of them is not shown: then a yes can count for this call alone."),
    askedAt: z.string(),
    expiresAt: z.string(),
    decidedBy: schemas.nullableText,
    decidedVia: schemas.nullableText,
    decidedAt: schemas.nullableText,
  })
  .meta({ id: "Approval" });
const approvalList = z.object({ approvals: z.array(approvalJson) }).meta({ id: "ApprovalList" });

const grantJson = z
  .object({
    ...about,
    kind: z.enum(["session", "always"]),
    madeAt: z.string(),
    until: schemas.nullableText.describe("Null: until it is taken back, or the tool's definition changes."),
  })
  .meta({ id: "Grant" });
const grantList = z.object({ grants: z.array(grantJson) }).meta({ id: "GrantList" });

const decisionBody = z
  .strictObject({
    decision: z.enum(["allow", "deny"]),
    for: z.enum(grantKinds).default("once").describe("How long a yes counts; of what runs code never `always`."),
  })
  .meta({ id: "ApprovalDecision" });

const params = z.object({ id: schemas.name });

export const listApprovals = operation({
  route: "GET /api/approvals",
  right: ownRecords,
  query: z.object({ state: z.enum(["waiting", "granted", "used", "denied", "expired"]).optional() }),
  id: "listApprovals",
  tag,
  summary: "Calls that wait for your yes, and those that were decided",
  description:
    "The newest first: your own, and those of others that take the yes of somebody with your role. Commands of the " +
    "gateway's owner see those of all people.",
  responses: answers(approvalList, "Of the last seven days."),
  async run(services, { principal, query }) {
    const { approvals } = await services.approvals();
    const own = approvals.filter((one) => isSeen(principal, one));
    const asked = own.filter(({ state }) => query.state === undefined || state === query.state);
    return { approvals: asked.map((one) => toApproval(services, principal, one)) };
  },
});

export const showApproval = operation({
  route: "GET /api/approvals/{id}",
  right: ownRecords,
  params,
  id: "showApproval",
  tag,
  summary: "One of them",
  responses: answers(approvalJson, "With all of its arguments.", [404]),
  async run(services, { principal, params: { id } }) {
    const found = (await services.approvals()).approvals.find((one) => one.id === id && isSeen(principal, one));
    if (found === undefined) throw new GatewayError("APPROVAL_UNKNOWN", "no call waits for your yes under this id");
    return toApproval(services, principal, found);
  },
});

export const decideApproval = operation({
  route: "POST /api/approvals/{id}",
  right: ownRecords,
  params,
  id: "decideApproval",
  tag,
  summary: "Say yes or no to a call that waits",
  description:
    "By a person in the dashboard, or by a command of `toolyard` on the gateway's machine. No token is enough: a " +
    `program with one would say yes to itself. Only one with the scope \`${approveScope}\` is, and never for calls of ` +
    "its own membership. Where `approver` is another than the person, it takes somebody else " +
    "with that role: no second login of the same person, either.",
  body: decisionBody,
  responses: answers(approvalJson, "As it is decided.", [404, 413, 415, 503]),
  async run(services, request) {
    const { principal, params: asked, body } = request;
    if (!isApproving(principal)) requirePerson(services, request);
    const book = await services.approvals();
    const found = book.approvals.find(({ id }) => id === asked.id);
    if (found !== undefined && isSeen(principal, found)) requireDecider(principal, found);
    const verdict = body.decision === "deny" ? "no" : body.for;
    const via = principal.via === "owner" ? "owner" : isApproving(principal) ? "api" : "dashboard";
    const decider = { by: principal.id, via };
    const decided = await book.decide(asked.id, verdict, decider, (one) => isSeen(principal, one));
    return toApproval(services, principal, decided);
  },
});

export const listGrants = operation({
  route: "GET /api/grants",
  right: ownRecords,
  id: "listGrants",
  tag,
  summary: "What you said yes to for more than one call",
  responses: answers(grantList, "The newest first."),
  async run(services, { principal }) {
    const { grants } = await services.approvals();
    return { grants: grants.filter((one) => isSeen(principal, one)).map(toGrant) };
  },
});

export const revokeGrant = operation({
  route: "DELETE /api/grants/{id}",
  right: ownWork,
  params,
  id: "revokeGrant",
  tag,
  summary: "Take a remembered yes back",
  responses: answers(z.object({ done: z.boolean() }), "The tool asks again.", [404, 415, 503]),
  async run(services, { principal, params: { id }, via }) {
    const book = await services.approvals();
    await book.revoke(id, { by: principal.id, via }, (one) => isSeen(principal, one));
    return done;
  },
});

type Asked = Pick<Approval | Grant, "principal" | "user" | "approver" | "team">;

/** One's own, and those that take one's role; the owner of the data directory sees everything. */
function isSeen(principal: Principal, asked: Asked): boolean {
  if (principal.id === asked.principal || principal.via === "owner" || isFor(principal, asked)) return true;
  return isApproving(principal) && isSamePerson(principal, asked);
}

function isFor(principal: Principal, { approver, team }: Asked): boolean {
  return isApprover(principal, approver, team);
}

/** Another membership of the same user is the same person, and so is a command of somebody who called without one. */
function isSamePerson({ id, user }: Principal, asked: Asked): boolean {
  return id === asked.principal || (user !== null && user === asked.user);
}

function mayDecide(principal: Principal, asked: Asked): boolean {
  // Whose token it is may be the program that asks; a token of the person in another team is another program's.
  if (isApproving(principal) && principal.id === asked.principal) return false;
  if (asked.approver === "self")
    return (
      principal.id === asked.principal ||
      principal.via === "owner" ||
      (isApproving(principal) && isSamePerson(principal, asked))
    );
  return !isSamePerson(principal, asked) && (principal.via === "owner" || isFor(principal, asked));
}

/** Throws FORBIDDEN for somebody who sees what waits, and is not the one who says yes to it. */
function requireDecider(principal: Principal, asked: Asked): void {
  if (mayDecide(principal, asked)) return;
  if (asked.approver === "self")
    throw new GatewayError(
      "FORBIDDEN",
      `a token with ${approveScope} does not decide about calls of its own membership`,
      {
        hint: "The person decides in the dashboard, or with a token for another team of theirs.",
      },
    );
  const who = asked.approver === "admin" || asked.team === null ? "the gateway" : `the team ${asked.team}`;
  throw new GatewayError("FORBIDDEN", `only another person decides about this call, who is an admin of ${who}`, {
    hint: "Ask one of them: it is on their Approvals page. The person who calls cannot allow it.",
  });
}

/**
 * A program that holds a token may be the one that asks, and can log in at the dashboard with it: in a gateway with
 * credentials only a person's own login counts. Throws FORBIDDEN.
 */
export function requirePerson(services: Services, request: OperationRequest): void {
  const { principal, isFromDashboard, loginAgeMs } = request;
  if (principal.via === "owner" || loginAgeMs() !== undefined || (services.isOpen() && isFromDashboard)) return;
  throw new GatewayError("FORBIDDEN", "a yes is said by a person, and not with a token", {
    hint: "Use the dashboard (`toolyard open`), or `toolyard approvals` on the gateway's machine.",
  });
}

const toTime = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

function toApproval(
  services: Pick<Services, "people">,
  reader: Principal,
  one: Approval,
): z.output<typeof approvalJson> {
  const { id, tool, server, instance, principal: person, client, state, because, args, decidedBy, decidedVia } = one;
  return {
    ...{
      id,
      tool,
      server,
      instance,
      person,
      client,
      state,
      effect: one.effect,
      because,
      approver: one.approver,
      team: one.team,
      personName: services.people()?.book.members.get(one.principal)?.user.name ?? null,
      mayDecide: mayDecide(reader, one),
      arguments: args,
      cut: one.isCut,
    },
    ...{ askedAt: new Date(one.askedAtMs).toISOString(), expiresAt: new Date(one.expiresAtMs).toISOString() },
    ...{ decidedBy, decidedVia, decidedAt: toTime(one.decidedAtMs) },
  };
}

function toGrant(one: Grant): z.output<typeof grantJson> {
  const { id, tool, server, instance, principal: person, client, kind } = one;
  const times = { madeAt: new Date(one.madeAtMs).toISOString(), until: toTime(one.untilMs) };
  return { id, tool, server, instance, person, client, kind, ...times };
}

/** What a person may enter in a form that a server asks for (2025-11-25, client/elicitation). */
const entered = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]);

const questionAnswer = z
  .strictObject({
    action: z.enum(["accept", "decline", "cancel"]),
    content: z
      .record(z.string(), entered)
      .optional()
      .describe("With `accept`, what was entered; none for a question that leads to an address."),
  })
  .meta({ id: "QuestionAnswer" });

export const answerAsked = operation({
  route: "POST /api/questions/{id}",
  right: usingServers,
  params: z.object({ id: schemas.name }),
  id: "answerQuestion",
  tag: "Execute",
  summary: "Answer a question of a server",
  description:
    "Of a call made with `Accept: text/event-stream` and `Toolyard-Elicitation: form, url`: its stream has " +
    "events `question` (`{ id, method, params }`), and `question-over` when one needs no answer any more.",
  body: questionAnswer,
  responses: answers(
    z.object({ answered: z.boolean() }),
    "It was passed to the server.",
    [404, 413, 415, 429, 502, 503],
  ),
  async run(services, { principal, params, bytes }) {
    await services.questions.answer(params.id, principal, bytes);
    return { answered: true };
  },
});

/** What waits for a person's yes, what was said yes to, and answers to what servers ask in the middle of calls. */
export const approvalOperations: readonly Operation[] = [
  answerAsked,
  listApprovals,
  showApproval,
  decideApproval,
  listGrants,
  revokeGrant,
];
