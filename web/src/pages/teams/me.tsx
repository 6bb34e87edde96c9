import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { api, valueOf, type Schemas } from "../../api/client.ts";
import { peopleQueries } from "../../api/people-queries.ts";
import { queries, useOrder } from "../../api/queries.ts";
import { chooseTeam } from "../../api/session.ts";
import { useWho } from "../../api/who.ts";
import { Button } from "../../parts/basic/button.tsx";
import { ConfirmButton } from "../../parts/basic/confirm.tsx";
import { CheckField, SelectField, TextField } from "../../parts/basic/field.tsx";
import { OnceSecret } from "../../parts/people/once-secret.tsx";
import { OrderModal } from "../../parts/basic/order-modal.tsx";
import { OwnAccess } from "../../parts/people/user-access.tsx";
import { Page, Section } from "../../parts/page.tsx";
import { Empty, FailureNote, Loaded } from "../../parts/basic/states.tsx";
import { agoByHour, counted, fullTime, plain } from "../../words/format.ts";
import { scopeWord } from "../../words/scopes.ts";

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
              <p>A client that cannot log in by itself needs one.</p>
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
                    about={<p>It opens nothing any more, and what was opened with it ends at once.</p>}
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

function limitsOf({ scopes, only }: Schemas["PersonalToken"]): string {
  const what = scopes.length === 0 ? "everything that you may do" : scopes.map(scopeWord).join(", ");
  return only === null ? what : `${what}, at ${only.map(plain).join(", ")}`;
}

function NewToken({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState("");
  const [days, setDays] = useState("90");
  const [scope, setScope] = useState("");
  const [only, setOnly] = useState<ReadonlySet<string>>(new Set());
  const status = useQuery(queries.status);
  const add = useOrder(
    async () => {
      const scopes = scope === "" ? {} : { scopes: [scope as "mcp:read" | "mcp:tools:execute"] };
      const limit = only.size === 0 ? {} : { only: [...only] };
      return await valueOf(
        api.POST("/api/me/tokens", { body: { name: name.trim(), days: Number(days), ...scopes, ...limit } }),
      );
    },
    { changes: [["people"]] },
  );
  const servers = [...new Map((status.data?.servers ?? []).map((row) => [row.server, row.title] as const))];
  const tick = (server: string, isOn: boolean): void => {
    const next = new Set(only);
    if (isOn) next.add(server);
    else next.delete(server);
    setOnly(next);
  };
  return (
    <OrderModal title="Make a token" submit="Make it" order={add} onClose={onClose}>
      <TextField label="What it is for" value={name} onChange={({ target }) => setName(target.value)} />
      <TextField
        label="Days that it is good"
        type="number"
        min={1}
        max={365}
        value={days}
        onChange={({ target }) => setDays(target.value)}
      />
      <SelectField label="May" choices={scopeWords} value={scope} onChange={({ target }) => setScope(target.value)} />
      {servers.length > 0 && (
        <fieldset className="stack">
          <legend>
            Only these servers{only.size === 0 ? " (none ticked: all)" : `: ${counted(only.size, "server")}`}
          </legend>
          {servers.map(([server, title]) => (
            <CheckField
              key={server}
              label={plain(title)}
              checked={only.has(server)}
              onChange={({ target }) => tick(server, target.checked)}
            />
          ))}
        </fieldset>
      )}
      {add.data !== undefined && (
        <OnceSecret title="The token is made." secret={add.data.token} expires={add.data.expires} />
      )}
    </OrderModal>
  );
}
