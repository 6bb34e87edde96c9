import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Schemas } from "../../api/client.ts";
import { queries } from "../../api/queries.ts";
import { useWho } from "../../api/who.ts";
import { counted, plain } from "../../words/format.ts";
import { needsPerson, reasonText } from "../../words/status.ts";
import { Section } from "../page.tsx";
import { Remedy } from "../basic/remedy.tsx";
import { Empty } from "../basic/states.tsx";
import { StatusMark } from "../basic/status-mark.tsx";

/** What somebody has to do something about, and what. */
export function NeedsYou({ status }: { readonly status: Schemas["GatewayStatus"] }) {
  const ill = status.servers.filter(needsPerson);
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
  if (ill.length + problems.length === 0) return <p className="note good">Nothing needs you: every server is well.</p>;
  return (
    <Section title="Needs you" about={counted(ill.length + problems.length, "thing")}>
      <ul className="list">
        {problems.map(({ text, hint }) => (
          <li key={text}>
            <strong>{plain(text)}</strong> <span className="muted">{plain(hint)}</span>
          </li>
        ))}
        {ill.map((server) => (
          <li key={server.instance}>
            <Link to="/servers/$server" params={{ server: server.server }} search={{ instance: server.instance }}>
              {plain(server.title)}
            </Link>
            <StatusMark server={server} />
            <span className="muted grow">{plain(reasonText(server))}</span>
            <Remedy server={server} />
          </li>
        ))}
      </ul>
    </Section>
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
            <span className="muted">with the address above; it counts when it has asked for its tools</span>
          )}
        </li>
        <li>
          Ask it for something: the first call appears here. Or <Link to="/tools">run a tool</Link> yourself.
        </li>
      </ol>
    </Section>
  );
}
