import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, valueOf } from "../../api/client.ts";
import { peopleQueries } from "../../api/people-queries.ts";
import { useOrder } from "../../api/queries.ts";
import { ago, plain } from "../../words/format.ts";
import { Button } from "../basic/button.tsx";
import { ConfirmButton } from "../forms/confirm.tsx";
import { TextField } from "../forms/field.tsx";
import { Section } from "../page.tsx";
import { Empty, FailureNote, Loaded } from "../basic/states.tsx";

/** Secrets of a team by name. Their values are never shown. */
export function TeamSecrets({ team }: { readonly team: string }) {
  const secrets = useQuery(peopleQueries.secrets(team));
  const [name, setName] = useState("");
  const [value, setValue] = useState("");
  const path = (secret: string) => ({ params: { path: { team, secret } } });
  const put = useOrder(
    async () => await valueOf(api.PUT("/api/teams/{team}/secrets/{secret}", { ...path(name.trim()), body: { value } })),
    {
      changes: [["people"]],
      onDone() {
        setName("");
        setValue("");
      },
    },
  );
  const remove = useOrder(
    async (secret: string) => await valueOf(api.DELETE("/api/teams/{team}/secrets/{secret}", path(secret))),
    { changes: [["people"]] },
  );
  return (
    <>
      <Section title="Set a secret" about="Templates and values name it as ${secret:NAME}.">
        <form
          className="filters"
          onSubmit={(event) => {
            event.preventDefault();
            if (name.trim() !== "" && value !== "") put.mutate();
          }}
        >
          <TextField label="Name" value={name} onChange={({ target }) => setName(target.value)} />
          <TextField
            label="Value"
            type="password"
            autoComplete="new-password"
            value={value}
            onChange={({ target }) => setValue(target.value)}
          />
          <Button look="main" type="submit" isBusy={put.isPending || name.trim() === "" || value === ""}>
            Encrypt and keep
          </Button>
        </form>
        {put.error !== null && <FailureNote error={put.error} />}
        {put.isSuccess && <p role="status">It is kept, and cannot be read again.</p>}
      </Section>
      {remove.error !== null && <FailureNote error={remove.error} />}
      <Loaded query={secrets}>
        {({ secrets: rows }) =>
          rows.length === 0 ? (
            <Empty title="The team has no secrets" />
          ) : (
            <ul className="list" aria-label="Secrets">
              {rows.map((secret) => (
                <li key={secret.id}>
                  <code className="grow">{plain(secret.name)}</code>
                  <span className="muted">
                    {secret.server === null ? "of the whole team" : `a field of ${plain(secret.server)}`} · set{" "}
                    {ago(secret.updated)} · {secret.used === null ? "never used" : `used ${ago(secret.used)}`}
                  </span>
                  {secret.server === null && (
                    <ConfirmButton
                      label="Remove"
                      look="danger"
                      question={`Remove ${plain(secret.name)}?`}
                      about={<p>Servers that need it no longer start, and say so.</p>}
                      isBusy={remove.isPending}
                      onYes={() => remove.mutate(secret.name)}
                    />
                  )}
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </>
  );
}
