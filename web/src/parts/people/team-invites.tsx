import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, valueOf, type Schemas } from "../../api/client.ts";
import { peopleQueries } from "../../api/people-queries.ts";
import { useOrder } from "../../api/queries.ts";
import { ago, fullTime, plain } from "../../words/format.ts";
import { Button } from "../basic/button.tsx";
import { ConfirmButton } from "../forms/confirm.tsx";
import { OnceSecret } from "./once-secret.tsx";
import { OrderForm } from "../forms/order-form.tsx";
import { Empty, FailureNote, Loaded } from "../basic/states.tsx";
import { RoleField } from "./team-members.tsx";

/** Invitations into a team that are still unused, and those of the last days. */
export function TeamInvites({ team }: { readonly team: string }) {
  const [isAdding, setAdding] = useState(false);
  const invites = useQuery(peopleQueries.invites(team));
  const members = useQuery(peopleQueries.members(team));
  const nameOf = (by: string): string => members.data?.find(({ id }) => id === by)?.user ?? by;
  const withdraw = useOrder(
    async (id: string) =>
      await valueOf(api.DELETE("/api/teams/{team}/invites/{id}", { params: { path: { team, id } } })),
    { changes: [["people"]] },
  );
  return (
    <>
      <div className="actions bar-actions">
        <Button onClick={() => setAdding(true)}>Invite somebody</Button>
      </div>
      {isAdding && <NewInvite team={team} onClose={() => setAdding(false)} />}
      {withdraw.error !== null && <FailureNote error={withdraw.error} />}
      <Loaded query={invites}>
        {({ invites: rows }) =>
          rows.length === 0 ? (
            <Empty title="No one is invited">
              <p>An invitation can be used once, within 72 hours.</p>
            </Empty>
          ) : (
            <ul className="cards">
              {rows.map((invite) => (
                <li key={invite.id} className="card">
                  <div className="card-head">
                    <strong>{invite.about === "" ? "An invitation" : plain(invite.about)}</strong>
                    <span className="muted">as {invite.role}</span>
                  </div>
                  <p className="muted">
                    by {plain(nameOf(invite.by))}, {ago(invite.created)} · {standing(invite)}
                  </p>
                  {invite.used === null && (
                    <ConfirmButton
                      label="Withdraw"
                      look="danger"
                      question="Withdraw this invitation?"
                      about={<p>Its link stops working.</p>}
                      isBusy={withdraw.isPending && withdraw.variables === invite.id}
                      onYes={() => withdraw.mutate(invite.id)}
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

function standing({ used, expires }: Schemas["Invite"]): string {
  if (used !== null) return `used ${ago(used)}`;
  return new Date(expires).getTime() < Date.now() ? "expired" : `good until ${fullTime(expires)}`;
}

const firstRole: Schemas["Member"]["role"] = "member";

function NewInvite({ team, onClose }: { readonly team: string; readonly onClose: () => void }) {
  return (
    <OrderForm
      title={`Invite somebody into ${plain(team)}`}
      submit="Make an invitation"
      start={{ about: "", role: firstRole }}
      fields={{
        about: { label: "For whom", hint: "Only shown here." },
        role: ({ values, set }) => <RoleField value={values.role} onChange={(role) => set({ role })} />,
      }}
      send={async ({ about, role }) => {
        const body = { role, ...(about === "" ? {} : { about }) };
        return await valueOf(api.POST("/api/teams/{team}/invites", { params: { path: { team } }, body }));
      }}
      result={({ secret, expires }) => (
        <>
          <OnceSecret
            title="Send this link to the person you invite: it can be used once."
            secret={`${location.origin}/invite/${secret}`}
            expires={expires}
          />
          <p className="muted">It works as long as you may invite here. Send it as safely as you would a key.</p>
        </>
      )}
      onClose={onClose}
    />
  );
}
