import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { api, valueOf, type Schemas } from "../api/client.ts";
import { queries, useOrder } from "../api/queries.ts";
import { AddServer } from "../parts/servers/add-server.tsx";
import { Button } from "../parts/basic/button.tsx";
import { ExampleServers } from "../parts/servers/server-catalog.tsx";
import { CheckField } from "../parts/forms/field.tsx";
import { Page, Section } from "../parts/page.tsx";
import { Remedy } from "../parts/basic/remedy.tsx";
import { Empty, FailureNote, Loaded } from "../parts/basic/states.tsx";
import { StatusMark } from "../parts/basic/status-mark.tsx";
import { counted, plain } from "../words/format.ts";
import { needsPerson, reasonText } from "../words/status.ts";
import { withOr } from "../words/words.ts";

type ServerStatus = Schemas["ServerStatus"];

/** The first five minutes: take servers over, see them come up, connect a client, and wait for its first question. */
export function Start() {
  return (
    <Page title="Start" about="Three steps; you can repeat each at any time.">
      <Import />
      <Tried />
      <Connect />
    </Page>
  );
}

function Import() {
  const [chosen, setChosen] = useState<ReadonlySet<string>>();
  const [areVariables, setVariables] = useState(true);
  const [isAdding, setAdding] = useState(false);
  const preview = useQuery({
    queryKey: ["clients", "import"],
    queryFn: async () => await valueOf(api.POST("/api/import", { body: { apply: false } })),
    staleTime: 60_000,
  });
  const servers = (preview.data?.servers ?? []).filter(({ configuredAs }) => configuredAs === null);
  const ticked = chosen ?? new Set(servers.filter(({ preselected }) => preselected).map(({ name }) => name));
  const apply = useOrder(
    async () =>
      await valueOf(
        api.POST("/api/import", {
          body: { apply: true, only: [...ticked], secrets: areVariables ? "variables" : "keep" },
        }),
      ),
    { changes: [["clients"], ["status"], ["config"]] },
  );
  return (
    <Section
      title="1. Bring the servers you already have"
      about="Nothing starts until you confirm."
      actions={<Button onClick={() => setAdding(true)}>Add one by hand</Button>}
    >
      <AddServer isOpen={isAdding} onClose={() => setAdding(false)} />
      <Loaded query={preview} lines={5}>
        {() =>
          servers.length === 0 ? (
            <Empty title="Nothing new was found in your AI clients">
              <p>Add a server by hand, or try the gateway with three that need no account.</p>
              <ExampleServers />
            </Empty>
          ) : (
            <>
              <ul className="cards">
                {servers.map((server) => (
                  <li key={server.name} className="card">
                    <CheckField
                      label={plain(server.name)}
                      hint={`from ${[...new Set(server.seen.map(({ client }) => client))].join(", ")}`}
                      checked={ticked.has(server.name)}
                      onChange={({ target }) => setChosen(withOr(ticked, server.name, target.checked))}
                    />
                    <code className="command-line">{plain(server.command)}</code>
                    {server.marks.map((mark) => (
                      <p key={mark} className="note warn">
                        {plain(mark)}
                      </p>
                    ))}
                    {server.notes.map((note) => (
                      <p key={note} className="muted">
                        {plain(note)}
                      </p>
                    ))}
                    {server.missing.length > 0 && (
                      <p className="muted">
                        Needs {server.missing.join(", ")}: give it on the server’s page, or set it.
                      </p>
                    )}
                    {server.secrets.map(({ where, variable, isSet }) => (
                      <p key={where} className="muted">
                        {plain(where)} is a secret; as a variable it is {variable}
                        {isSet ? ", which is set" : ", whose value is kept encrypted"}.
                      </p>
                    ))}
                  </li>
                ))}
              </ul>
              {servers.some(({ secrets }) => secrets.length > 0) && (
                <CheckField
                  label="Write secrets as variables"
                  hint="Otherwise they are copied into the configuration file."
                  checked={areVariables}
                  onChange={({ target }) => setVariables(target.checked)}
                />
              )}
              <div className="actions">
                <Button look="main" isBusy={apply.isPending || ticked.size === 0} onClick={() => apply.mutate()}>
                  Take over {counted(ticked.size, "server")}
                </Button>
              </div>
            </>
          )
        }
      </Loaded>
      {apply.error !== null && <FailureNote error={apply.error} />}
      {apply.data !== undefined && (
        <p className="note good" role="status">
          They are in the configuration, and are starting.
        </p>
      )}
    </Section>
  );
}

function Tried() {
  const status = useQuery(queries.status);
  return (
    <Section title="2. See them come up">
      <Loaded query={status}>
        {({ servers }) =>
          servers.length === 0 ? <p className="muted">No server yet.</p> : <Arrivals servers={servers} />
        }
      </Loaded>
    </Section>
  );
}

/** So many are seen at a glance. */
const fewServers = 12;

/** Servers that did not come up are first; of many that did, the rest is folded. */
function Arrivals({ servers }: { readonly servers: readonly ServerStatus[] }) {
  if (servers.length <= fewServers) return <ServerList servers={servers} />;
  const isUp = ({ status }: ServerStatus): boolean => status === "online" || status === "disabled";
  const others = servers.filter((server) => !isUp(server) || needsPerson(server));
  const well = servers.filter((server) => !others.includes(server));
  return (
    <>
      <ServerList servers={others} />
      <details>
        <summary>
          {counted(well.length, "other server")} that need{well.length === 1 ? "s" : ""} nothing
        </summary>
        <ServerList servers={well} />
      </details>
    </>
  );
}

function ServerList({ servers }: { readonly servers: readonly ServerStatus[] }) {
  return (
    <ul className="list">
      {servers.map((server) => (
        <li key={server.instance}>
          <Link to="/servers/$server" params={{ server: server.server }} search={{ instance: server.instance }}>
            {plain(server.title)}
          </Link>
          <StatusMark server={server} />
          <span className="grow muted">
            {server.status === "online" ? counted(server.tools, "tool") : plain(reasonText(server))}
          </span>
          <Remedy server={server} />
        </li>
      ))}
    </ul>
  );
}

const lookAgainMs = 2_000;

function Connect() {
  // No event tells that a client asked for its tools: it is looked at again until one has.
  const tokens = useQuery({
    ...queries.tokens,
    refetchInterval: ({ state }) => ((state.data?.sessions.count ?? 0) === 0 ? lookAgainMs : false),
  });
  const count = tokens.data?.sessions.count ?? 0;
  return (
    <Section title="3. Connect a client" about={<Link to="/clients">Choose one</Link>}>
      <p>
        Point an AI client at <code>{location.origin}/mcp</code>. It counts as connected once it has asked for its
        tools.
      </p>
      {count === 0 ? (
        <p className="note" role="status">
          Waiting: no client has asked for its tools yet.
        </p>
      ) : (
        <p className="note good" role="status">
          {counted(count, "conversation")} asked for tools within thirty days.
        </p>
      )}
    </Section>
  );
}
