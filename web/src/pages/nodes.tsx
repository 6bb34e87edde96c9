import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api, valueOf, type Schemas } from "../api/client.ts";
import { queries, useOrder } from "../api/queries.ts";
import { useWho } from "../api/who.ts";
import { Facts, type Fact } from "../parts/basic/facts.tsx";
import { ToneMark } from "../parts/basic/status-mark.tsx";
import { Empty, FailureNote, Loaded } from "../parts/basic/states.tsx";
import { ConfirmButton } from "../parts/forms/confirm.tsx";
import { Page } from "../parts/page.tsx";
import { ListCopies } from "../parts/servers/list-copies.tsx";
import { ago, bytes, count, counted, duration, fullTime, plain } from "../words/format.ts";
import type { Tone } from "../words/status.ts";
import { toCommand } from "../words/words.ts";

type Node = Schemas["ClusterNode"];

const states: Readonly<Record<Node["state"], { readonly word: string; readonly tone: Tone; readonly about?: string }>> =
  {
    ready: { word: "Ready", tone: "ok" },
    draining: { word: "Draining", tone: "busy", about: "It hands over what it runs, and starts nothing." },
    silent: {
      word: "Silent",
      tone: "bad",
      about: "Its lease has run out. Others take over what it ran; look at its machine.",
    },
    dead: { word: "Ended", tone: "off" },
  };

/** The nodes of the cluster: how each is, what it has to do, and who takes part. */
export function Nodes() {
  const { isNode } = useWho();
  return (
    <Page
      title="Nodes"
      about="Gateways of one cluster: any of them takes any call, and each server runs at one of them."
    >
      {isNode ? <NodeCards /> : <Alone />}
    </Page>
  );
}

function Alone() {
  return (
    <Empty title="This gateway is alone">
      <p>
        Several gateways that share a PostgreSQL can run each server once for all of them, and take over from each
        other.
      </p>
      <ol className="steps">
        <li>
          Give each of them the same PostgreSQL and the same key of 32 bytes: <code>TOOLYARD_DATABASE</code> and{" "}
          <code>TOOLYARD_KEY</code>.
        </li>
        <li>
          Add <code>{'"cluster": {}'}</code> to <code>toolyard</code> in the <Link to="/settings">configuration</Link>{" "}
          of each, and let them reach each other's port 7300.
        </li>
        <li>Start them again. They find each other in the database.</li>
      </ol>
    </Empty>
  );
}

function NodeCards() {
  const nodes = useQuery(queries.nodes);
  return (
    <Loaded query={nodes} lines={8}>
      {({ nodes: all, maxConnections }) => (
        <>
          <div className="actions bar-actions">
            <p className="muted grow">
              {sumsOf(all)}
              {maxConnections === null
                ? " · PostgreSQL does not answer"
                : ` · PostgreSQL takes ${counted(maxConnections, "connection")}`}
            </p>
            <ListCopies command={toCommand("nodes")} rows={all} />
          </div>
          <ul className="cards" aria-label="Nodes">
            {all.map((node) => (
              <NodeCard key={node.id} node={node} />
            ))}
          </ul>
        </>
      )}
    </Loaded>
  );
}

/** Of those that take part. A figure that one of them does not tell is in no sum. */
function sumsOf(all: readonly Node[]): string {
  const living = all.filter(({ state }) => state === "ready" || state === "draining");
  const sum = (of: (node: Node) => number): number => living.reduce((total, node) => total + of(node), 0);
  const parts = [
    counted(living.length, "node"),
    counted(
      sum(({ instances }) => instances),
      "instance",
    ),
  ];
  if (living.some(({ load }) => load === null)) return parts.join(" · ");
  const calls = sum(({ load }) => load?.callsPerSecond ?? 0);
  const forwarded = sum(({ load }) => load?.forwardedPerSecond ?? 0);
  return [...parts, `${rate(calls)} calls a second, ${rate(forwarded)} forwarded`].join(" · ");
}

function rate(value: number): string {
  return value >= 10 ? count(Math.round(value)) : value.toFixed(value === 0 ? 0 : 1);
}

function NodeCard({ node }: { readonly node: Node }) {
  const { id, state, differs } = node;
  const { word, tone, about } = states[state];
  return (
    <li className="card" aria-label={plain(id)}>
      <div className="card-head">
        <strong>{plain(id)}</strong>
        <ToneMark tone={tone}>{word}</ToneMark>
        {node.this && <span className="muted">this one</span>}
      </div>
      {about !== undefined && <p className="muted">{about}</p>}
      {differs && state !== "dead" && (
        <p className="bad-text">Another configuration: its servers or rules of calls are not those of this node.</p>
      )}
      <Facts facts={factsOf(node)} />
      <NodeOrders node={node} />
    </li>
  );
}

function factsOf({ state, version, address, started, leaseLeftMs, instances, load }: Node): readonly Fact[] {
  const about: readonly Fact[] = [
    ["Version", version],
    ["Address", <code key="address">{plain(address)}</code>],
    [
      "Started",
      <span key="started" title={fullTime(started)}>
        {ago(started)}
      </span>,
    ],
  ];
  if (state === "dead" || state === "silent") return about;
  return [
    ...about,
    ["Lease left", duration(leaseLeftMs)],
    ["Instances", count(instances)],
    ...(load === null ? [] : loadFacts(load)),
  ];
}

function loadFacts(load: NonNullable<Node["load"]>): readonly Fact[] {
  const { callsPerSecond, forwardedPerSecond, cpuCores, cores, memoryBytes, machineBytes, waitingStarts } = load;
  return [
    ["Calls a second", `${rate(callsPerSecond)}, ${rate(forwardedPerSecond)} forwarded`],
    ["CPU", `${cpuCores.toFixed(1)} of ${counted(cores, "core")}`],
    ...(memoryBytes === null
      ? []
      : ([["Memory of servers", `${bytes(memoryBytes)} of ${bytes(machineBytes)}`]] as const)),
    ["Waiting to start", count(waitingStarts)],
  ];
}

/** Draining, and its end, for admins. A node that says nothing cannot be told. */
function NodeOrders({ node: { id, state, instances } }: { readonly node: Node }) {
  const { roles } = useWho();
  const name = plain(id);
  const params = { path: { id } };
  const { mutate, isPending, error } = useOrder(
    async (order: "drain" | "resume") =>
      order === "drain"
        ? await valueOf(api.POST("/api/nodes/{id}/drain", { params }))
        : await valueOf(api.POST("/api/nodes/{id}/resume", { params })),
    {
      changes: [["nodes"], ["status"]],
      said: (order) => ({ text: order === "drain" ? `${name} hands over what it runs.` : `${name} takes part again.` }),
    },
  );
  if (!roles.includes("admin") || (state !== "ready" && state !== "draining")) return null;
  return (
    <div className="actions end">
      {state === "ready" ? (
        <ConfirmButton
          label="Drain"
          question={`Drain ${name}?`}
          about={
            <p>
              It hands over {instances === 1 ? "the instance" : `the ${counted(instances, "instance")}`} that it runs:
              calls in progress are answered first, and state that servers keep in memory is lost. It starts nothing
              until it takes part again, and goes on answering its clients.
            </p>
          }
          isBusy={isPending}
          onYes={() => mutate("drain")}
        />
      ) : (
        <ConfirmButton
          label="Take part again"
          question={`Have ${name} take part again?`}
          about={<p>Servers that start from now on may run there. What runs at other nodes stays where it is.</p>}
          isBusy={isPending}
          onYes={() => mutate("resume")}
        />
      )}
      {error !== null && <FailureNote error={error} />}
    </div>
  );
}
