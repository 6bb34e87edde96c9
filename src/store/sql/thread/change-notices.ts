import type { AccessWrites, OAuthItemRow } from "../../access-rows.ts";
import type { ApprovalWrites } from "../../approval-rows.ts";
import type { ClaimAsk, SharedWrites } from "../../shared.ts";
import type { AccessAnswer, AccessAsk, PeopleAsk, QuestionName } from "../sql-messages.ts";

/** What other gateways are told of a question that changed the state, and the member of its answer with the number. */
export interface ToldChange {
  readonly kind: QuestionName;
  readonly detail: string;
  readonly as: keyof AccessAnswer;
}

/** In the order in which it has to be applied. */
export function toldOf(name: QuestionName, ask: unknown, answer: unknown): readonly ToldChange[] {
  if (name === "changePeople") return [{ kind: name, detail: JSON.stringify((ask as PeopleAsk).writes), as: "change" }];
  // What belongs to installations has secrets in it, which are kept in one place only: it is read again.
  if (name === "changeInstalls") return [{ kind: name, detail: "", as: "change" }];
  if (name === "changeShared") {
    const { items = [], newItems = [], oldItems = [], gone = [] } = ask as SharedWrites;
    // Those who have them in memory read them.
    const keys = [...items, ...newItems, ...oldItems, ...gone].map(({ kind, id }) => [kind, id]);
    return [{ kind: name, detail: JSON.stringify(keys), as: "change" }];
  }
  if (name === "changeApprovals") {
    const { approvals, lostApprovals, grants, lostGrants } = ask as ApprovalWrites;
    // What was asked for is read when it is told: there may be pages of it.
    const ids = [...approvals.map(({ row }) => row.id), ...lostApprovals, ...grants.map(({ id }) => id), ...lostGrants];
    return (answer as AccessAnswer).isDone ? [{ kind: name, detail: JSON.stringify(ids), as: "change" }] : [];
  }
  if (name === "claim") {
    const { fresh } = answer as { readonly fresh: readonly string[] };
    // A state that was opened concerns only those who try to open it again, and they ask.
    const isTold = (ask as ClaimAsk).kind === "session" && fresh.length > 0;
    return isTold ? [{ kind: name, detail: JSON.stringify(fresh), as: "change" }] : [];
  }
  if (name !== "changeAccess" || !(answer as AccessAnswer).isDone) return [];
  const { writes, people } = ask as AccessAsk;
  const told = toTold(writes);
  return [
    ...(Object.keys(people).length === 0
      ? []
      : [{ kind: "changePeople" as const, detail: JSON.stringify(people), as: "peopleChange" as const }]),
    ...(Object.keys(told).length === 0 ? [] : [{ kind: name, detail: JSON.stringify(told), as: "change" as const }]),
  ];
}

/** What gateways have in memory. The rest, such as passwords and codes, each of them reads when it is asked for. */
function toTold(writes: AccessWrites): AccessWrites {
  const { sessions, seenSessions, goneSessions, grants, usedGrants, goneGrants, items, goneItems } = writes;
  const kept = {
    ...{ sessions, seenSessions, goneSessions, grants, usedGrants, goneGrants },
    items: items?.filter(isToken).map((row) => ({ ...row, payload: "" })),
    goneItems: goneItems?.filter(isToken),
  };
  return Object.fromEntries(Object.entries(kept).filter(([, rows]) => rows !== undefined && rows.length > 0));
}

function isToken({ kind }: Pick<OAuthItemRow, "kind">): boolean {
  return kind === "AccessToken";
}
