import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { api, valueOf, type Schemas } from "../api/client.ts";
import { useWho } from "../api/who.ts";
import { lastUseDays, queries, useOrder } from "../api/queries.ts";
import { knownText } from "../parts/servers/last-use.tsx";
import { Button, CopyButton } from "../parts/basic/button.tsx";
import { ClientChange, type Action } from "../parts/api/client-change.tsx";
import { addressOf, ProfileChoice } from "../parts/api/profile-choice.tsx";
import { ListCopies } from "../parts/servers/list-copies.tsx";
import { Name } from "../parts/basic/name.tsx";
import { Page, Section } from "../parts/page.tsx";
import { Empty, FailureNote, Loaded } from "../parts/basic/states.tsx";
import { ago, agoByHour, count, counted, duration, fullTime, plain } from "../words/format.ts";
import { toCommand } from "../words/words.ts";

type Client = Schemas["ClientList"]["clients"][number];

/** AI clients of this machine, their sessions and calls, and the browsers that are logged in here. */
export function Clients() {
  const { roles } = useWho();
  const isAdmin = roles.includes("admin");
  return (
    <Page
      title="Clients"
      about={isAdmin ? "AI clients of this machine, and which gateway each uses." : "What you use this gateway with."}
    >
      {isAdmin && <FoundClients />}
      <ConnectYours />
      <Sessions />
      <Used />
    </Page>
  );
}

/** Clients on the machine of the gateway are for its admins: a member has others, on another machine. */
function ConnectYours() {
  const { isPerson } = useWho();
  if (!isPerson) return null;
  return (
    <Section title="Connect a client of yours">
      <Address />
      <p>
        <a href="/connect">What to write into its settings, and a token where it wants one</a>
      </p>
    </Section>
  );
}

/** What any client can use, of the profile that is chosen. */
function Address() {
  const [profile, setProfile] = useState("");
  const url = addressOf(profile);
  return (
    <>
      <ProfileChoice value={profile} onChange={setProfile} />
      <p>
        Any MCP client can use <code>{url}</code> <CopyButton label="Copy" text={url} />
      </p>
    </>
  );
}

function FoundClients() {
  const clients = useQuery(queries.clients);
  return (
    <Section
      title="Found on this machine"
      actions={
        <>
          <Button onClick={() => void clients.refetch()}>Look again</Button>
          <ListCopies command={toCommand("clients")} rows={clients.data?.clients ?? []} />
        </>
      }
    >
      <Loaded query={clients} lines={6}>
        {({ clients: found }) =>
          found.length === 0 ? (
            <Empty title="No AI client was found on this machine">
              <Address />
            </Empty>
          ) : (
            <ul className="cards">
              {found.map((client) => (
                <ClientCard key={client.client} client={client} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Section>
  );
}

function ClientCard({ client }: { readonly client: Client }) {
  const [action, setAction] = useState<Action>();
  const isConnected = client.files.some((file) => file.isConnected);
  return (
    <li className="card">
      <div className="card-head">
        <strong>{plain(client.client)}</strong>
        <span className={isConnected ? "status ok" : "status off"}>
          {isConnected ? "uses this gateway" : "does not use this gateway"}
        </span>
        {client.sessions !== null && client.sessions > 0 && (
          <span className="muted">{counted(client.sessions, "session")} now</span>
        )}
      </div>
      {client.files.map((file) => (
        <p key={`${file.file} ${file.scope}`} className="muted">
          <code>
            <Name>{file.file}</Name>
          </code>{" "}
          {file.scope !== "user" && plain(file.scope)} · {counted(file.servers, "server")} of its own
          {file.gateways.length > 0 && <> · leads to {plain(file.gateways.join(", "))}</>}
          {file.problems.map((problem) => (
            <span key={problem} className="bad-text">
              {" "}
              {plain(problem)}
            </span>
          ))}
        </p>
      ))}
      {client.id !== null && (
        <div className="actions">
          {isConnected ? (
            <Button onClick={() => setAction("disconnect")}>Disconnect</Button>
          ) : (
            <Button look="main" onClick={() => setAction("connect")}>
              Connect
            </Button>
          )}
          {client.files.some(({ isUndoable }) => isUndoable) && (
            <Button onClick={() => setAction("undo")}>Undo the last change</Button>
          )}
        </div>
      )}
      {client.id !== null && action !== undefined && (
        <ClientChange id={client.id} name={client.client} action={action} onClose={() => setAction(undefined)} />
      )}
    </li>
  );
}

/** Whatever has called through the gateway, by the name that it gives itself. */
function Used() {
  const use = useQuery(queries.lastUse("client"));
  return (
    <Section title="Used the gateway" about={`in ${lastUseDays} days, by the names that they give themselves`}>
      <Loaded query={use}>
        {({ usage, from, since }) =>
          usage.length === 0 ? (
            <p className="muted">No client has called a tool {knownText({ from, since })}.</p>
          ) : (
            <ul className="list" aria-label="Used the gateway">
              {[...usage].sort(newestFirst).map(({ group: { client = null }, calls, errors, lastHour }) => (
                <li key={client}>
                  <span className="grow">
                    {client === null ? (
                      "no name: this page, commands and REST"
                    ) : (
                      <Link to="/calls" search={{ client }}>
                        {plain(client)}
                      </Link>
                    )}
                  </span>
                  <span className="muted number">
                    {counted(calls, "call")}
                    {errors > 0 && `, ${count(errors)} failed`}
                  </span>
                  <span className="muted" title={`In the hour from ${fullTime(lastHour)}`}>
                    last seen {agoByHour(lastHour)}
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Section>
  );
}

function newestFirst(one: Schemas["UsageGroup"], other: Schemas["UsageGroup"]): number {
  return other.lastHour.localeCompare(one.lastHour) || other.calls - one.calls;
}

function lastSeenFirst(one: { readonly idleMs: number | null }, other: { readonly idleMs: number | null }): number {
  return (one.idleMs ?? Infinity) - (other.idleMs ?? Infinity);
}

function seenAgo(idleMs: number): string {
  return idleMs < 60_000 ? "just now" : `${duration(idleMs)} ago`;
}

function Sessions() {
  const sessions = useQuery(queries.sessions);
  const end = useOrder(
    async (id: string) => await valueOf(api.DELETE("/api/sessions/{id}", { params: { path: { id } } })),
    {
      changes: [["sessions"]],
    },
  );
  return (
    <Loaded query={sessions}>
      {({ clients, browsers }) => (
        <div className="columns">
          <Section title="Sessions" about="of clients, by when they were last seen">
            {clients.length === 0 ? (
              <p className="muted">No client has an open session.</p>
            ) : (
              <ul className="list">
                {[...clients].sort(lastSeenFirst).map((client, at) => (
                  <li key={at}>
                    <span className="grow">{plain(client.client ?? "(no name)")}</span>
                    <span className="muted">{client.revision ?? "without sessions"}</span>
                    <code>{client.endpoint}</code>
                    <span className="muted number">
                      {client.idleMs === null ? "last seen: not known" : `last seen ${seenAgo(client.idleMs)}`}
                    </span>
                  </li>
                ))}
              </ul>
            )}
          </Section>
          {browsers.length > 0 && (
            <Section title="Browsers logged in here" about={counted(browsers.length, "browser")}>
              {end.error !== null && <FailureNote error={end.error} />}
              <ul className="list">
                {browsers.map((browser) => (
                  <li key={browser.id}>
                    <span className="grow">
                      {plain(browser.browser)}
                      {browser.isThis && <strong> (this one)</strong>}
                    </span>
                    <span className="muted">used {ago(browser.usedAt)}</span>
                    {!browser.isThis && (
                      <Button
                        isBusy={end.isPending && end.variables === browser.id}
                        onClick={() => end.mutate(browser.id)}
                      >
                        Log out
                      </Button>
                    )}
                  </li>
                ))}
              </ul>
            </Section>
          )}
        </div>
      )}
    </Loaded>
  );
}
