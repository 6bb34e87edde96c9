import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, valueOf, type Schemas } from "../../api/client.ts";
import { peopleQueries } from "../../api/people-queries.ts";
import { useOrder } from "../../api/queries.ts";
import { count, counted, fullTime, plain } from "../../words/format.ts";
import { Button } from "../basic/button.tsx";
import { ConfirmButton } from "../basic/confirm.tsx";
import { DataTable, type Column } from "../basic/data-table.tsx";
import { CheckField, LinesField, TextField } from "../basic/field.tsx";
import { OnceSecret } from "./once-secret.tsx";
import { OrderModal } from "../basic/order-modal.tsx";
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
    isWrapping: true,
  },
  {
    heading: "Comes back to",
    width: "minmax(14rem, 2fr)",
    cell: ({ redirectUris }) =>
      redirectUris.length === 0 ? (
        <span className="muted">nowhere: it only asks what tokens are</span>
      ) : (
        redirectUris.map(plain).join(", ")
      ),
    isWrapping: true,
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
            No one can connect it any more, and the access that it has ends at once: {count(apps)}{" "}
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
        <p className="muted">
          Apps that publish a document of their own are not here, but with those whom they act for.
        </p>
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
              <p>Most register by themselves when somebody connects them. Register one here that cannot.</p>
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
  const [name, setName] = useState("");
  const [uris, setUris] = useState("");
  const [hasSecret, setSecret] = useState(true);
  const add = useOrder(
    async () => {
      const redirectUris = uris.split(/\s+/).filter((uri) => uri !== "");
      return await valueOf(api.POST("/api/auth/clients", { body: { name: name.trim(), redirectUris, hasSecret } }));
    },
    { changes: [["people"]] },
  );
  const made = add.data;
  return (
    <OrderModal title="Register an app" submit="Register it" order={add} isReady={name.trim() !== ""} onClose={onClose}>
      <TextField
        label="Name"
        hint="People see it when they are asked for consent."
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <LinesField
        label="Addresses that it comes back to, one in each line"
        hint="None for a service that only asks what tokens are."
        value={uris}
        onChange={({ target }) => setUris(target.value)}
      />
      <CheckField
        label="It can keep a secret"
        hint="A server can, an app on somebody’s machine cannot."
        checked={hasSecret}
        onChange={({ target }) => setSecret(target.checked)}
      />
      {made !== undefined && (
        <p role="status">
          It is registered as <code>{made.id}</code>.
        </p>
      )}
      {made?.secret != null && <OnceSecret title="Its secret is made." secret={made.secret} />}
    </OrderModal>
  );
}
