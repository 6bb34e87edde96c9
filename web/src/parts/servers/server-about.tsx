import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api, valueOf, type Schemas } from "../../api/client.ts";
import { queries } from "../../api/queries.ts";
import { count, plain } from "../../words/format.ts";
import { CopyButton } from "../basic/button.tsx";
import { Facts, type Fact } from "../basic/facts.tsx";
import { Name } from "../basic/name.tsx";
import { Section } from "../page.tsx";
import { Loaded } from "../basic/states.tsx";

/** What a confined server may reach, and what it was kept from. */
function SandboxFacts({ sandbox }: { readonly sandbox: NonNullable<Schemas["ServerDetails"]["sandbox"]> }) {
  const { reaches, unconfinedWhy, denied } = sandbox;
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
          <p>It was kept from these hosts. To allow one, add it to “sandbox.network” under “Configuration”.</p>
          <ul>
            {denied.map(({ host, port, why }) => (
              <li key={`${host} ${port}`}>
                <code>{plain(port === null ? host : `${host}:${port}`)}</code>: {plain(why)}
              </li>
            ))}
          </ul>
        </>
      )}
    </Section>
  );
}

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
            {server.sandbox !== null && <SandboxFacts sandbox={server.sandbox} />}
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
