import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api, valueOf, type Schemas } from "../../api/client.ts";
import { configUndo } from "../../api/config-undo.ts";
import { queries, useOrder } from "../../api/queries.ts";
import { useWho } from "../../api/who.ts";
import { count, fullTime, plain } from "../../words/format.ts";
import { Button, CopyButton } from "../basic/button.tsx";
import { ConfirmButton } from "../forms/confirm.tsx";
import { Facts, type Fact } from "../basic/facts.tsx";
import { Name } from "../basic/name.tsx";
import { Section } from "../page.tsx";
import { FailureNote, Loaded } from "../basic/states.tsx";

interface SandboxProps {
  readonly slug: string;
  readonly sandbox: NonNullable<Schemas["ServerDetails"]["sandbox"]>;
}

/** What a confined server may reach, what it was kept from, and what it reached while that was noted. */
function SandboxFacts({ slug, sandbox }: SandboxProps) {
  const { reaches, unconfinedWhy, denied } = sandbox;
  const { mayManage } = useWho();
  if (unconfinedWhy !== null)
    return <Section title="Sandbox">{`It runs without one, because ${plain(unconfinedWhy)}.`}</Section>;
  return (
    <Section title="Sandboxed">
      <ul>
        {reaches.map((sentence) => (
          <li key={sentence}>{plain(sentence)}</li>
        ))}
      </ul>
      {denied.length > 0 && (
        <>
          <p>It was kept from these hosts:</p>
          <ul>
            {denied.map(({ host, port, why, allowedBy }) => (
              <li key={`${host} ${port}`}>
                <code>{plain(port === null ? host : `${host}:${port}`)}</code>: {plain(why)}{" "}
                {mayManage && allowedBy !== null && <AllowHost slug={slug} host={allowedBy} />}
              </li>
            ))}
          </ul>
        </>
      )}
      {mayManage && <ReachedHosts slug={slug} sandbox={sandbox} />}
    </Section>
  );
}

/** The file is read again by the gateway, which restarts the server. */
const changed = [["status"], ["config"]] as const;

function AllowHost({ slug, host }: { readonly slug: string; readonly host: string }) {
  const params = { path: { slug } };
  const { mutate, isPending, error } = useOrder(
    async () => await valueOf(api.POST("/api/servers/{slug}/sandbox/allow", { params, body: { host } })),
    { changes: changed, said: (_, { text }) => ({ text: `${plain(text)}.`, undo: configUndo() }) },
  );
  return (
    <>
      <Button look="plain" isBusy={isPending} onClick={() => mutate(undefined)}>
        Allow {plain(host)}
      </Button>
      {error !== null && <FailureNote error={error} />}
    </>
  );
}

function ReachedHosts({ slug, sandbox: { learning } }: SandboxProps) {
  const params = { path: { slug } };
  const { mutate, isPending, error } = useOrder(
    async (body: Schemas["SandboxLearnOrder"]) =>
      await valueOf(api.POST("/api/servers/{slug}/sandbox/learn", { params, body })),
    {
      changes: changed,
      said: (_, { written }) =>
        written === null ? undefined : { text: "It may reach the hosts of the list alone.", undo: configUndo() },
    },
  );
  const hosts = learning?.network ?? [];
  return (
    <>
      {learning !== null && (
        <p>
          {`Hosts that it reached ${learning.isOver ? "until" : "so far, noted until"} ${fullTime(learning.until)}: `}
          {hosts.length === 0 ? "none." : ""}
          {learning.isFull ? " There were more than a list may have." : ""}
        </p>
      )}
      <ul>
        {hosts.map((host) => (
          <li key={host}>
            <code>{plain(host)}</code>
          </li>
        ))}
      </ul>
      <div className="actions">
        {hosts.length > 0 && (
          <ConfirmButton
            label="Allow these alone"
            question={`Allow ${slug} these hosts alone?`}
            about={<p>The list is written into its entry, and the server is started again.</p>}
            isBusy={isPending}
            onYes={() => mutate({ keep: true })}
          />
        )}
        {(learning === null || learning.isOver) && (
          <Button look="plain" isBusy={isPending} onClick={() => mutate({ forMs: dayMs })}>
            Note the hosts that it reaches for a day
          </Button>
        )}
      </div>
      {error !== null && <FailureNote error={error} />}
    </>
  );
}

const dayMs = 86_400_000;

/** What a server says of itself: untrusted, and shown as text. */
export function ServerAbout({ slug }: { readonly slug: string }) {
  const details = useQuery(queries.server(slug));
  return (
    <Loaded query={details} lines={6}>
      {(server) => {
        if (!server.isKnown) return <p className="muted">It has never been connected, so its tools are unknown.</p>;
        const { offers } = server;
        const endpoint = `${location.origin}/mcp/server/${encodeURIComponent(slug)}`;
        const hidden = offers.tools - server.shownTools;
        const facts: readonly Fact[] = [
          [
            "Name it gives itself",
            <span key="name">
              {server.icon !== null && <img className="server-icon" src={server.icon} alt="" />}
              {plain([server.title, server.name].filter((text) => text !== null).join(", ") || "not given")}
            </span>,
          ],
          ["Version", server.version ?? "not given"],
          ["Speaks", server.eras.length === 0 ? "not known" : server.eras.join(" and ")],
          ["Namespace", server.namespace],
          ["Tools", `${count(offers.tools)}${hidden > 0 ? `, ${count(hidden)} of them hidden by rules` : ""}`],
          [
            "Resources",
            <Link key="resources" to="/resources" search={{ server: slug }}>
              {count(offers.resources)}, and {count(offers.templates)} templates
            </Link>,
          ],
          [
            "Prompts",
            <Link key="prompts" to="/resources" search={{ server: slug, tab: "prompts" }}>
              {count(offers.prompts)}
            </Link>,
          ],
          ["Skills", count(offers.skills)],
          [
            "Endpoint of its own",
            <span key="endpoint">
              <code className="whole">
                <Name>{endpoint}</Name>
              </code>{" "}
              <CopyButton label="Copy" text={endpoint} />
            </span>,
          ],
        ];
        return (
          <div className="columns">
            <Section title="About itself">
              <Facts facts={facts} />
            </Section>
            {server.sandbox !== null && <SandboxFacts slug={slug} sandbox={server.sandbox} />}
            {server.oddities.length > 0 && (
              <Section
                title="Oddities"
                about="Deviations from the protocol that the gateway corrects. Report them to the author."
              >
                <ul>
                  {server.oddities.map((sentence) => (
                    <li key={sentence}>{plain(sentence)}</li>
                  ))}
                </ul>
              </Section>
            )}
            <Section title="Instructions for models">
              {server.instructions === null ? (
                <p className="muted">None.</p>
              ) : (
                <pre tabIndex={0} className="wrap">
                  {plain(server.instructions)}
                </pre>
              )}
            </Section>
            <Section title="Capabilities">
              <pre tabIndex={0} className="wrap">
                {plain(JSON.stringify(server.capabilities, undefined, 2))}
              </pre>
            </Section>
          </div>
        );
      }}
    </Loaded>
  );
}

/** Its settings in force, and the line of the file, the variable or the default that each comes from. */
export function ServerOrigins({ slug }: { readonly slug: string }) {
  const settings = useQuery({
    queryKey: ["config", "origins", slug],
    queryFn: async () => await valueOf(api.GET("/api/servers/{slug}/settings", { params: { path: { slug } } })),
  });
  return (
    <Section title="Settings in force" about="Secrets are hidden.">
      <Loaded query={settings} lines={6}>
        {({ file, values }) =>
          values.length === 0 ? (
            <p className="muted">The configuration file has no settings of it.</p>
          ) : (
            <div className="table-scroll" role="region" aria-label="Table of its settings" tabIndex={0}>
              <table>
                <thead>
                  <tr>
                    <th scope="col">Setting</th>
                    <th scope="col">Value</th>
                    <th scope="col">From</th>
                  </tr>
                </thead>
                <tbody>
                  {values.map(({ path, value, origin }) => (
                    <tr key={path}>
                      <td>
                        <code className="whole">
                          <Name>{path}</Name>
                        </code>
                      </td>
                      <td>
                        <code>
                          <Name>{JSON.stringify(value) ?? ""}</Name>
                        </code>
                      </td>
                      <td className="muted">{plain(shortOrigin(origin, file))}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Loaded>
    </Section>
  );
}

/** `line 12` where the file is the one that all are in. */
function shortOrigin(origin: string, file: string | null): string {
  if (file === null || !origin.startsWith(`${file}:`)) return origin;
  const [line = ""] = origin.slice(file.length + 1).split(":");
  return `line ${line} of the file`;
}
