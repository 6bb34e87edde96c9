import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, valueOf, type Schemas } from "../../api/client.ts";
import { peopleQueries } from "../../api/people-queries.ts";
import { useOrder } from "../../api/queries.ts";
import { count, counted, fullTime, plain } from "../../words/format.ts";
import { Button } from "../basic/button.tsx";
import { ConfirmButton } from "../forms/confirm.tsx";
import { DataTable, type Column } from "../basic/data-table.tsx";
import { OnceSecret } from "./once-secret.tsx";
import { OrderForm } from "../forms/order-form.tsx";
import { Empty, FailureNote, Loaded } from "../basic/states.tsx";

type Client = Schemas["OAuthClient"];

const columns = (isBusy: (id: string) => boolean, onRemove: (id: string) => void): readonly Column<Client>[] => [
  {
    heading: "App",
    width: "minmax(10rem, 1fr)",
    cell: ({ id, name }) => (
      <>
        {plain(name)} <code className="muted">{id}</code>
      </>
    ),
  },
  {
    heading: "Comes back to",
    width: "minmax(14rem, 2fr)",
    cell: ({ redirectUris }) =>
      redirectUris.length === 0 ? (
        <span className="muted">none: it only checks tokens</span>
      ) : (
        redirectUris.map(plain).join(", ")
      ),
  },
  {
    heading: "Secret",
    width: "5rem",
    cell: ({ hasSecret }) => (hasSecret ? "has one" : <span className="muted">none</span>),
  },
  { heading: "Acts for", width: "6rem", align: "right", cell: ({ apps }) => counted(apps, "login") },
  {
    heading: "Until",
    width: "11.5rem",
    cell: ({ expires }) => <span className="muted">{expires === null ? "it is removed" : fullTime(expires)}</span>,
  },
  {
    heading: "Remove",
    width: "7rem",
    cell: ({ id, name, apps }) => (
      <ConfirmButton
        label="Remove"
        look="danger"
        question={`Remove ${plain(name)}?`}
        about={
          <p>
            It can no longer be connected, and its access ends immediately: {count(apps)}{" "}
            {apps === 1 ? "login" : "logins"}.
          </p>
        }
        isBusy={isBusy(id)}
        onYes={() => onRemove(id)}
      />
    ),
  },
];

/** Apps that are registered at this gateway, by themselves or by an admin. */
export function OAuthClients() {
  const [isAdding, setAdding] = useState(false);
  const clients = useQuery(peopleQueries.clients);
  const remove = useOrder(
    async (id: string) => await valueOf(api.DELETE("/api/auth/clients/{id}", { params: { path: { id } } })),
    { changes: [["people"]] },
  );
  const isBusy = (id: string): boolean => remove.isPending && remove.variables === id;
  return (
    <>
      <div className="bar-line">
        <p className="muted">Apps that publish their own metadata document are listed with the users they act for.</p>
        <div className="actions">
          <Button onClick={() => setAdding(true)}>Register an app</Button>
        </div>
      </div>
      {isAdding && <NewClient onClose={() => setAdding(false)} />}
      {remove.error !== null && <FailureNote error={remove.error} />}
      <Loaded query={clients} lines={6}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="No app is registered">
              <p>Most apps register automatically when they are connected. Register the others here.</p>
            </Empty>
          ) : (
            <DataTable
              label="Registered apps"
              columns={columns(isBusy, (id) => remove.mutate(id))}
              rows={rows}
              rowKey={({ id }) => id}
            />
          )
        }
      </Loaded>
    </>
  );
}

function NewClient({ onClose }: { readonly onClose: () => void }) {
  return (
    <OrderForm
      title="Register an app"
      submit="Register it"
      start={{ name: "", uris: "", hasSecret: true }}
      fields={{
        name: { label: "Name", hint: "People see it when they are asked for consent.", isNeeded: true },
        uris: {
          label: "Redirect addresses, one on each line",
          hint: "None for a service that only checks tokens.",
          kind: "lines",
        },
        hasSecret: { label: "It can keep a secret", hint: "A server can; an app on a person’s machine cannot." },
      }}
      send={async ({ uris, ...app }) => {
        const redirectUris = uris.split(/\s+/).filter((uri) => uri !== "");
        return await valueOf(api.POST("/api/auth/clients", { body: { ...app, redirectUris } }));
      }}
      result={({ id, secret }) => (
        <>
          <p role="status">
            It is registered as <code>{id}</code>.
          </p>
          {secret != null && <OnceSecret title="Its secret is made." secret={secret} />}
        </>
      )}
      onClose={onClose}
    />
  );
}
