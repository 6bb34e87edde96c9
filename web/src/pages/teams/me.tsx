import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { api, valueOf, type Schemas } from "../../api/client.ts";
import { peopleQueries } from "../../api/people-queries.ts";
import { queries, useOrder } from "../../api/queries.ts";
import { chooseTeam } from "../../api/session.ts";
import { useWho } from "../../api/who.ts";
import { Button } from "../../parts/basic/button.tsx";
import { ConfirmButton } from "../../parts/forms/confirm.tsx";
import { CheckField } from "../../parts/forms/field.tsx";
import { OnceSecret } from "../../parts/people/once-secret.tsx";
import { OrderForm } from "../../parts/forms/order-form.tsx";
import { OwnAccess } from "../../parts/people/user-access.tsx";
import { Page, Section } from "../../parts/page.tsx";
import { Empty, FailureNote, Loaded } from "../../parts/basic/states.tsx";
import { agoByHour, counted, fullTime, plain } from "../../words/format.ts";
import { scopeWord } from "../../words/scopes.ts";
import { withOr } from "../../words/words.ts";

/** The person logged in: their teams, and the access that they have given out. */
export function Me() {
  const who = useWho();
  const name = plain(who.user ?? who.principal);
  return (
    <Page
      title={name}
      about={
        <>
          {who.roles.includes("admin") ? "You are an admin of the gateway. " : ""}
          {who.isPerson && (
            <>
              Password and logins at servers: <a href="/account">your account</a>
            </>
          )}
        </>
      }
    >
      <Section title="Your teams">
        {who.teams.length === 0 && <p className="muted">You are in no team.</p>}
        <ul className="list">
          {who.teams.map(({ team, title, role }) => (
            <li key={team}>
              <Link className="grow" to="/teams/$team" params={{ team }}>
                {plain(title === "" ? team : title)}
              </Link>
              <span className="muted">{role}</span>
              {team === who.team ? (
                <span className="status ok">chosen</span>
              ) : (
                <Button onClick={() => chooseTeam(team)}>Choose</Button>
              )}
            </li>
          ))}
        </ul>
      </Section>
      {who.user !== null && who.team !== null && <Tokens team={who.team} />}
      {who.user !== null && <OwnAccess />}
    </Page>
  );
}

const scopeWords = [
  ["", "Everything that you may do"],
  ["mcp:read", "Find tools and read resources"],
  ["mcp:tools:execute", "Also call tools"],
] as const;

function Tokens({ team }: { readonly team: string }) {
  const [isAdding, setAdding] = useState(false);
  const tokens = useQuery(peopleQueries.tokens);
  const revoke = useOrder(
    async (id: string) => await valueOf(api.DELETE("/api/me/tokens/{id}", { params: { path: { id } } })),
    { changes: [["people"]] },
  );
  return (
    <Section
      title="Your tokens"
      about={`for ${plain(team)} alone`}
      actions={<Button onClick={() => setAdding(true)}>Make a token</Button>}
    >
      {isAdding && <NewToken onClose={() => setAdding(false)} />}
      {revoke.error !== null && <FailureNote error={revoke.error} />}
      <Loaded query={tokens}>
        {({ tokens: rows }) =>
          rows.length === 0 ? (
            <Empty title="You have no token for this team">
              <p>Clients that cannot log in need one.</p>
            </Empty>
          ) : (
            <ul className="list" aria-label="Tokens">
              {rows.map((token) => (
                <li key={token.id}>
                  <span className="grow">{token.name === "" ? <code>{token.id}</code> : plain(token.name)}</span>
                  <span className="muted">{limitsOf(token)}</span>
                  <span className="muted">
                    {token.used === null ? "never used" : `used ${agoByHour(token.used)}`} · until{" "}
                    {fullTime(token.expires)}
                  </span>
                  <ConfirmButton
                    label="Revoke"
                    look="danger"
                    question={`Revoke ${token.name === "" ? "this token" : plain(token.name)}?`}
                    about={<p>It stops working, and sessions opened with it end immediately.</p>}
                    isBusy={revoke.isPending && revoke.variables === token.id}
                    onYes={() => revoke.mutate(token.id)}
                  />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Section>
  );
}

function limitsOf({ scopes, only, profile }: Schemas["PersonalToken"]): string {
  const what = scopes.length === 0 ? "everything that you may do" : scopes.map(scopeWord).join(", ");
  const where = only === null ? what : `${what}, at ${only.map(plain).join(", ")}`;
  return profile === null ? where : `${where}, in the profile ${plain(profile)}`;
}

const none: ReadonlySet<string> = new Set();

function NewToken({ onClose }: { readonly onClose: () => void }) {
  const status = useQuery(queries.status);
  const servers = [...new Map((status.data?.servers ?? []).map((row) => [row.server, row.title] as const))];
  return (
    <OrderForm
      title="Make a token"
      submit="Make it"
      start={{ name: "", days: "90", scope: "", only: none }}
      fields={{
        name: { label: "What it is for" },
        days: { label: "Valid for this many days", kind: { type: "number", min: 1, max: 365 } },
        scope: { label: "May", choices: scopeWords },
        only: ({ values: { only }, set }) =>
          servers.length > 0 && (
            <fieldset className="stack">
              <legend>
                Only these servers{only.size === 0 ? " (none ticked: all)" : `: ${counted(only.size, "server")}`}
              </legend>
              {servers.map(([server, title]) => (
                <CheckField
                  key={server}
                  label={plain(title)}
                  checked={only.has(server)}
                  onChange={({ target }) => set({ only: withOr(only, server, target.checked) })}
                />
              ))}
            </fieldset>
          ),
      }}
      send={async ({ name, days, scope, only }) => {
        const scopes = scope === "" ? {} : { scopes: [scope as "mcp:read" | "mcp:tools:execute"] };
        const limit = only.size === 0 ? {} : { only: [...only] };
        return await valueOf(api.POST("/api/me/tokens", { body: { name, days: Number(days), ...scopes, ...limit } }));
      }}
      result={({ token, expires }) => <OnceSecret title="The token is made." secret={token} expires={expires} />}
      onClose={onClose}
    />
  );
}
