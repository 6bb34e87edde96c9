import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api, valueOf, type Schemas } from "../../api/client.ts";
import { queries, useOrder } from "../../api/queries.ts";
import { Button } from "../../parts/basic/button.tsx";
import { DataTable, type Column } from "../../parts/basic/data-table.tsx";
import { Empty, FailureNote, Loaded } from "../../parts/basic/states.tsx";
import { Page, Section } from "../../parts/page.tsx";
import { ServerIcon } from "../../parts/servers/server-icon.tsx";
import { agoShort, counted, fullTime, plain } from "../../words/format.ts";
import { effectText } from "../../words/tool-effect.ts";

type Approval = Schemas["Approval"];
type Grant = Schemas["Grant"];

/** Calls that wait for a person's yes, those that were decided, and remembered yeses. */
export function Approvals() {
  const approvals = useQuery(queries.approvals);
  const grants = useQuery(queries.grants);
  const labels = useQuery(queries.flowLabels);
  return (
    <Page
      title="Approvals"
      about="Calls that may destroy something wait here for your yes, where the client cannot ask you itself."
    >
      <Loaded query={approvals} lines={6}>
        {({ approvals: all }) => <Inbox all={all} />}
      </Loaded>
      <Loaded query={grants} lines={2}>
        {({ grants: all }) => (all.length === 0 ? null : <Remembered all={all} />)}
      </Loaded>
      <Loaded query={labels} lines={1}>
        {({ labels: all }) => (all.length === 0 ? null : <ReadBefore all={all} />)}
      </Loaded>
    </Page>
  );
}

function Inbox({ all }: { readonly all: readonly Approval[] }) {
  const open = all.filter(({ state }) => state === "waiting");
  const waiting = open.filter(({ mayDecide }) => mayDecide);
  const elsewhere = open.filter(({ mayDecide }) => !mayDecide);
  const decided = all.filter(({ state }) => state !== "waiting");
  return (
    <>
      {waiting.length === 0 ? (
        <Empty title="Nothing waits for you">
          <p>
            What asks first is decided by what a tool does and by the rules of its server:{" "}
            <Link to="/tools">see the tools</Link>.
          </p>
        </Empty>
      ) : (
        <Section title="Waiting" about={counted(waiting.length, "call")}>
          <ul className="list approvals">
            {waiting.map((one) => (
              <Waiting key={one.id} one={one} />
            ))}
          </ul>
        </Section>
      )}
      {elsewhere.length > 0 && (
        <Section title="Waiting for others" about="Somebody else says yes to these calls of yours">
          <ul className="list approvals">
            {elsewhere.map((one) => (
              <li key={one.id} className="approval" id={one.id}>
                <Asked one={one} />
              </li>
            ))}
          </ul>
        </Section>
      )}
      {decided.length > 0 && (
        <Section title="Decided" about="in the last seven days">
          <DataTable label="Decided calls" columns={columns} rows={decided} rowKey={({ id }) => id} />
        </Section>
      )}
    </>
  );
}

const lengths = [
  ["once", "Yes, this call"],
  ["session", "Yes, for this session"],
  ["always", "Always"],
] as const;

/** One call with everything that it would be sent. No comes first: it is what a hasty click should hit. */
function Waiting({ one }: { readonly one: Approval }) {
  const decide = useOrder(
    async (body: { readonly decision: "allow" | "deny"; readonly for: "once" | "session" | "always" }) =>
      await valueOf(api.POST("/api/approvals/{id}", { params: { path: { id: one.id } }, body })),
    {
      changes: [["approvals"], ["grants"]],
      said: ({ decision }) => ({
        text:
          decision === "allow"
            ? `${one.tool} may run: its client makes the same call again.`
            : `${one.tool} may not run.`,
      }),
    },
  );
  return (
    <li className="approval" id={one.id}>
      <Asked one={one} />
      <div className="actions">
        <Button isBusy={decide.isPending} onClick={() => decide.mutate({ decision: "deny", for: "once" })}>
          No
        </Button>
        {lengths.map(([length, text]) =>
          length !== "once" && (one.cut || (length === "always" && one.effect === "run")) ? null : (
            <Button
              key={length}
              look={length === "once" ? "main" : "plain"}
              isBusy={decide.isPending}
              onClick={() => decide.mutate({ decision: "allow", for: length })}
            >
              {text}
            </Button>
          ),
        )}
      </div>
      {decide.error !== null && <FailureNote error={decide.error} />}
    </li>
  );
}

/** The question, and who says yes to it. */
function Asked({ one }: { readonly one: Approval }) {
  const team = one.team === null ? "" : ` in ${plain(one.team)}`;
  return (
    <>
      <p className="named">
        <ServerIcon name={one.server} />
        <span className="grow">
          Allow <strong>{plain(one.tool)}</strong>? It {effectText({ effect: one.effect, asks: false })} (
          {plain(one.because)}).
        </span>
      </p>
      <pre className="given">{pretty(one.arguments)}</pre>
      <p className="muted">
        Asked by {plain(one.client)}
        {one.approver !== "self" && ` for ${plain(one.personName ?? one.person)}${team}`},{" "}
        <span title={fullTime(one.askedAt)}>{agoShort(one.askedAt)}</span>; expires {fullTime(one.expiresAt)}.
        {one.approver !== "self" &&
          ` Decided by ${one.approver === "admin" || one.team === null ? "an admin of the gateway" : "an admin of the team"}, not by the person who asks.`}
      </p>
    </>
  );
}

/** On several lines where it is JSON; hidden characters are made visible. */
function pretty(text: string): string {
  try {
    return plain(JSON.stringify(JSON.parse(text), undefined, 2));
  } catch {
    return plain(text);
  }
}

const columns: readonly Column<Approval>[] = [
  {
    heading: "Tool",
    width: "minmax(10rem, 1.4fr)",
    cell: ({ tool }) => <code title={plain(tool)}>{plain(tool)}</code>,
  },
  { heading: "Outcome", width: "6rem", cell: ({ state }) => state },
  {
    heading: "Arguments",
    width: "minmax(8rem, 2fr)",
    from: 700,
    cell: (one) => <span title={plain(one.arguments)}>{plain(one.arguments)}</span>,
  },
  { heading: "Client", width: "minmax(6rem, 1fr)", from: 560, cell: ({ client }) => plain(client) },
  { heading: "Decided by", width: "7rem", from: 800, cell: ({ decidedVia }) => decidedVia ?? "–" },
  {
    heading: "Asked",
    width: "6rem",
    cell: ({ askedAt }) => <span title={fullTime(askedAt)}>{agoShort(askedAt)}</span>,
  },
];

/** What clients have read lately: rules of `policy.flows` hold their calls up because of it. */
function ReadBefore({ all }: { readonly all: readonly Schemas["FlowLabel"][] }) {
  const clear = useOrder(async () => await valueOf(api.DELETE("/api/flows")), {
    changes: [["flows"]],
    said: () => ({ text: "It counts no more." }),
  });
  return (
    <Section title="Read before" about="Calls may ask because of it">
      <ul className="list">
        {all.map(({ label, client, server, readAt }) => (
          <li className="need" key={`${client} ${label} ${readAt}`}>
            <ServerIcon name={server} />
            <span className="grow">
              {plain(client)} read {label} content of {plain(server)} <span className="muted">{agoShort(readAt)}</span>
            </span>
          </li>
        ))}
      </ul>
      <Button isBusy={clear.isPending} onClick={() => clear.mutate(undefined)}>
        Forget it
      </Button>
      {clear.error !== null && <FailureNote error={clear.error} />}
    </Section>
  );
}

function Remembered({ all }: { readonly all: readonly Grant[] }) {
  return (
    <Section title="Remembered" about="These are called without a question">
      <ul className="list">
        {all.map((grant) => (
          <RememberedOne key={grant.id} grant={grant} />
        ))}
      </ul>
    </Section>
  );
}

function RememberedOne({ grant }: { readonly grant: Grant }) {
  const revoke = useOrder(
    async () => await valueOf(api.DELETE("/api/grants/{id}", { params: { path: { id: grant.id } } })),
    { changes: [["grants"]], said: () => ({ text: `${grant.tool} asks again.` }) },
  );
  const until =
    grant.kind === "always"
      ? "always, while its definition stays"
      : `${plain(grant.client)}, until ${fullTime(grant.until ?? "")}`;
  return (
    <li className="need">
      <ServerIcon name={grant.server} />
      <span className="grow">
        <code>{plain(grant.tool)}</code> <span className="muted">{until}</span>
      </span>
      <Button isBusy={revoke.isPending} onClick={() => revoke.mutate(undefined)}>
        Take back
      </Button>
      {revoke.error !== null && <FailureNote error={revoke.error} />}
    </li>
  );
}
