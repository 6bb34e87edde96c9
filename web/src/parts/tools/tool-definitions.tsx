import { useQuery } from "@tanstack/react-query";
import { api, valueOf, type Schemas } from "../../api/client.ts";
import { queries, useOrder } from "../../api/queries.ts";
import { mayDecideDefinitions, useWho } from "../../api/who.ts";
import { agoShort, counted, fullTime, plain } from "../../words/format.ts";
import { Button } from "../basic/button.tsx";
import { FailureNote } from "../basic/states.tsx";
import { Section } from "../page.tsx";
import { ServerIcon } from "../servers/server-icon.tsx";

type Diff = Schemas["DefinitionDiff"];
type Definition = Diff["definitions"][number];

/** Definitions of a server's tools that wait for a person, were blocked, or changed; nothing where there are none. */
export function ToolDefinitions({ server }: { readonly server: string }) {
  const mayDecide = mayDecideDefinitions(useWho());
  const { data } = useQuery({ ...queries.definitions, enabled: mayDecide });
  const own = (data?.servers ?? []).filter((one) => one.server === server);
  return own.map(({ id }) => <OfOwner key={id} id={id} />);
}

function OfOwner({ id }: { readonly id: string }) {
  const { data } = useQuery(queries.definitionDiff(id));
  if (data === undefined || data.definitions.length === 0) return null;
  const held = data.definitions.filter(({ state }) => state === "held");
  const about = held.length === 0 ? "Nothing waits for you" : `${counted(held.length, "tool")} held for review`;
  return (
    <Section title="Definitions" about={about}>
      {held.length > 1 && <DecideAll id={id} hash={data.hash} count={held.length} />}
      <ul className="list approvals">
        {data.definitions.map((one) => (
          <OneDefinition key={`${one.tool} ${one.hash}`} id={id} server={data.server} one={one} />
        ))}
      </ul>
      {data.more > 0 && (
        <p className="muted">
          {counted(data.more, "more")}: <code>toolyard definitions {plain(data.server)}</code>
        </p>
      )}
    </Section>
  );
}

type Verdict = "approve" | "block";

function useDecision(id: string) {
  return useOrder(
    async ({ verdict, body }: { readonly verdict: Verdict; readonly body: Schemas["DefinitionDecision"] }) => {
      const given = { params: { path: { server: id } }, body };
      return await valueOf(
        verdict === "approve"
          ? api.POST("/api/definitions/{server}/approve", given)
          : api.POST("/api/definitions/{server}/block", given),
      );
    },
    {
      changes: [["definitions"], ["tools"], ["status"]],
      said: ({ verdict, body }) => {
        const what = body.tools === undefined ? "The tools" : plain(body.tools.join(", "));
        return { text: verdict === "approve" ? `${what} may be used.` : `${what}: blocked.` };
      },
    },
  );
}

function DecideAll({ id, hash, count }: { readonly id: string; readonly hash: string; readonly count: number }) {
  const decide = useDecision(id);
  return (
    <div className="actions">
      <Button isBusy={decide.isPending} onClick={() => decide.mutate({ verdict: "block", body: { hash } })}>
        Block all {count}
      </Button>
      <Button isBusy={decide.isPending} onClick={() => decide.mutate({ verdict: "approve", body: { hash } })}>
        Approve all {count}
      </Button>
      {decide.error !== null && <FailureNote error={decide.error} />}
    </div>
  );
}

const stateTexts: Readonly<Record<Definition["state"], string>> = {
  held: "waits for you",
  blocked: "blocked",
  changed: "changed, and in use",
  pinned: "as it was first seen",
};

/** One version with its differences. Blocking comes first: it is what a hasty click should hit. */
function OneDefinition({
  id,
  server,
  one,
}: {
  readonly id: string;
  readonly server: string;
  readonly one: Definition;
}) {
  const decide = useDecision(id);
  const order = (verdict: Verdict) => () => decide.mutate({ verdict, body: { tools: [one.tool], hash: one.hash } });
  return (
    <li className="approval">
      <p className="named">
        <ServerIcon name={server} />
        <span className="grow">
          <strong>{plain(one.tool)}</strong> {stateTexts[one.state]}
        </span>
        {one.seenAt !== null && (
          <span className="muted" title={fullTime(one.seenAt)}>
            {agoShort(one.seenAt)}
          </span>
        )}
      </p>
      {one.because.map((reason) => (
        <p key={reason}>{plain(reason)}</p>
      ))}
      <pre className="given">{one.diff.map(plain).join("\n")}</pre>
      <div className="actions">
        {one.state !== "blocked" && (
          <Button isBusy={decide.isPending} onClick={order("block")}>
            Block
          </Button>
        )}
        {(one.state === "held" || one.state === "blocked") && (
          <Button look="main" isBusy={decide.isPending} onClick={order("approve")}>
            Approve
          </Button>
        )}
      </div>
      {decide.error !== null && <FailureNote error={decide.error} />}
    </li>
  );
}
