import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { RotateCw } from "lucide-react";
import { api, valueOf, type Schemas } from "../../api/client.ts";
import { queries, useOrder } from "../../api/queries.ts";
import { mayDecideDefinitions, useWho } from "../../api/who.ts";
import { count, counted, plain } from "../../words/format.ts";
import { byNeed, isUsable, needsPerson, reasonText } from "../../words/status.ts";
import { Section } from "../page.tsx";
import { Remedy } from "../basic/remedy.tsx";
import { Button } from "../basic/button.tsx";
import { Folded } from "../basic/folded.tsx";
import { Name } from "../basic/name.tsx";
import { Empty, FailureNote } from "../basic/states.tsx";
import { ServerIcon } from "../servers/server-icon.tsx";
import { StatusMark } from "../basic/status-mark.tsx";

type Standing = Schemas["ServerStatus"];

/** Everything that waits for a person, each with the step to take. */
export function NeedsYou({ status }: { readonly status: Schemas["GatewayStatus"] }) {
  const ill = status.servers.filter(needsPerson);
  const { data: asked } = useQuery(queries.approvals);
  const waiting = (asked?.approvals ?? []).filter(({ state, mayDecide }) => state === "waiting" && mayDecide).length;
  const { data: changed } = useQuery({ ...queries.definitions, enabled: mayDecideDefinitions(useWho()) });
  const held = (changed?.servers ?? []).flatMap(({ id, server, definitions }) => {
    const tools = definitions.filter(({ state }) => state === "held").length;
    return tools === 0 ? [] : [{ id, server, tools }];
  });
  const problems = [
    ...(status.configProblem === null
      ? []
      : [
          {
            text: `The changed configuration is refused: ${status.configProblem}`,
            hint: "The old one stays in force until the file can be used.",
          },
        ]),
    ...(status.restart === null ? [] : [{ text: status.restart, hint: "Restart the gateway." }]),
    ...(status.unready === null ? [] : [{ text: status.unready, hint: "" }]),
    ...status.store.problems.map(({ message, hint }) => ({ text: message, hint })),
  ];
  if (status.servers.length === 0)
    return (
      <Empty title="No server is configured yet">
        <ol className="steps">
          <li>
            <Link to="/start">Bring the servers that your AI clients have already</Link>, or{" "}
            <Link to="/servers">add one</Link>.
          </li>
          <li>Have a client use this gateway.</li>
          <li>Ask it for something: the first call appears here.</li>
        </ol>
      </Empty>
    );
  const things = ill.length + problems.length + held.length + (waiting > 0 ? 1 : 0);
  if (things === 0) return <Quiet servers={status.servers} />;
  return (
    <Section title="Needs you" about={counted(things, "thing")}>
      <ul className="list">
        {waiting > 0 && (
          <li>
            <Link to="/approvals">{counted(waiting, "call")} waiting for your yes</Link>
          </li>
        )}
        {held.map(({ id, server, tools }) => (
          <li key={id}>
            <Link to="/servers/$server" params={{ server }}>
              {counted(tools, "tool")} of {plain(server)} held for review
            </Link>
          </li>
        ))}
        {problems.map(({ text, hint }) => (
          <li key={text}>
            <strong>{plain(text)}</strong> <span className="muted">{plain(hint)}</span>
          </li>
        ))}
        {[...ill].sort(byNeed).map((server) => (
          <li key={server.instance} className="need">
            <ServerIcon name={server.server} />
            <span className="grow">
              <Link to="/servers/$server" params={{ server: server.server }} search={{ instance: server.instance }}>
                <Name>{server.title}</Name>
              </Link>{" "}
              <StatusMark server={server} />
              <span className="second">
                <Folded text={plain(reasonText(server))} most={160} />
              </span>
            </span>
            <NeedActions server={server} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** One line where there is nothing to do: how many servers can be used, and the state of the others. */
function Quiet({ servers }: { readonly servers: readonly Standing[] }) {
  const usable = servers.filter(isUsable).length;
  const off = servers.filter(({ status }) => status === "disabled").length;
  const coming = servers.length - usable - off;
  const others = [coming > 0 ? `${count(coming)} starting` : "", off > 0 ? `${count(off)} off` : ""];
  const rest = others.filter((text) => text !== "").join(", ");
  return (
    <p className={coming === 0 && usable > 0 ? "note good" : "note"}>
      Nothing needs you. {count(usable)} of {counted(servers.length, "server")} can be used
      {rest === "" ? "" : `; ${rest}`}.
    </p>
  );
}

/** The step itself where one click takes it; otherwise the way to where it is taken. */
function NeedActions({ server }: { readonly server: Standing }) {
  const step = server.next?.step;
  const isRetry = step === "try-now" || step === "see-log" || step === "start";
  const retry = useOrder(
    async () => await valueOf(api.POST("/api/instances/{id}/restart", { params: { path: { id: server.instance } } })),
    { changes: [["status"], ["tools"]], said: () => ({ text: `${server.title} is starting.` }) },
  );
  return (
    <span className="actions">
      {step !== "start" && <Remedy server={server} />}
      {isRetry && (
        <Button isBusy={retry.isPending} onClick={() => retry.mutate(undefined)}>
          <RotateCw aria-hidden size={14} /> Retry
        </Button>
      )}
      {retry.error !== null && <FailureNote error={retry.error} />}
    </span>
  );
}

/** Until the first call: the three steps of the start, with those that are done. */
export function FirstSteps({ servers }: { readonly servers: number }) {
  const { mayManage } = useWho();
  const used = useQuery(queries.lastUse("client"));
  const { data: tokens } = useQuery(queries.tokens);
  if (used.data === undefined || used.data.usage.length > 0 || tokens === undefined) return null;
  const isConnected = tokens.sessions.count > 0;
  return (
    <Section title="Until the first call">
      <ol className="steps">
        <li>
          {mayManage ? <Link to="/start">Bring servers</Link> : "Servers"}: {counted(servers, "server")}{" "}
          <span className="status ok">done</span>
        </li>
        <li>
          {mayManage ? <Link to="/clients">Have a client use this gateway</Link> : "Have a client use this gateway"}{" "}
          {isConnected ? (
            <span className="status ok">done</span>
          ) : (
            <span className="muted">with the address above; it counts once it has asked for its tools</span>
          )}
        </li>
        <li>
          Ask it for something: the first call appears here. Or <Link to="/tools">run a tool</Link> yourself.
        </li>
      </ol>
    </Section>
  );
}
