import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, valueOf, type Schemas } from "../../api/client.ts";
import { peopleQueries, revisedOf, type Revised } from "../../api/people-queries.ts";
import { useOrder } from "../../api/queries.ts";
import { mayManageTeam, mayOwnTeam, useWho } from "../../api/who.ts";
import { fullTime, plain } from "../../words/format.ts";
import { toCommand } from "../../words/words.ts";
import { Button } from "../basic/button.tsx";
import { ConfirmButton, Modal } from "../forms/confirm.tsx";
import { RevisedForm, Steady, useRevisedChange } from "../forms/conflict.tsx";
import { DataTable, type Column } from "../basic/data-table.tsx";
import { SelectField } from "../forms/field.tsx";
import { ListCopies } from "../servers/list-copies.tsx";
import { OrderForm } from "../forms/order-form.tsx";
import { Section } from "../page.tsx";
import { Empty, FailureNote, Loaded } from "../basic/states.tsx";

type Member = Schemas["Member"];
type Role = Member["role"];

const roleWords: Readonly<Record<Role, string>> = {
  member: "member: uses it",
  admin: "admin: manages members and servers",
  owner: "owner: also its admins, and the team itself",
};

/** Who is in a team. */
export function TeamMembers({ team }: { readonly team: string }) {
  const who = useWho();
  const [edited, setEdited] = useState<string>();
  const [isAdding, setAdding] = useState(false);
  const members = useQuery(peopleQueries.members(team));
  const isManaged = mayManageTeam(who, team);
  const columns: readonly Column<Member>[] = [
    {
      heading: "Member",
      width: "minmax(7rem, 1fr)",
      cell: ({ id, user }) =>
        isManaged || user === who.user ? (
          <Button look="plain" className="opens" title={plain(user)} onClick={() => setEdited(id)}>
            {plain(user)}
          </Button>
        ) : (
          plain(user)
        ),
    },
    {
      heading: "State",
      width: "6rem",
      cell: ({ status }) =>
        status === "active" ? <span className="muted">active</span> : <span className="bad-text">suspended</span>,
    },
    { heading: "Since", width: "12rem", cell: ({ created }) => <span className="muted">{fullTime(created)}</span> },
  ];
  return (
    <>
      {who.roles.includes("admin") && (
        <div className="actions bar-actions">
          <Button onClick={() => setAdding(true)}>Add a user of the gateway</Button>
        </div>
      )}
      {isAdding && <AddMember team={team} onClose={() => setAdding(false)} />}
      {edited !== undefined && <MemberEditor team={team} id={edited} onClose={() => setEdited(undefined)} />}
      <Loaded query={members} lines={6}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="No one is in this team yet">
              <p>Invite somebody.</p>
            </Empty>
          ) : (
            <>
              <DataTable label="Members" columns={columns} rows={rows} rowKey={({ id }) => id} />
              <div className="actions">
                <ListCopies command={toCommand("team members", [team])} rows={rows} />
              </div>
            </>
          )
        }
      </Loaded>
    </>
  );
}

const firstRole: Role = "member";

function AddMember({ team, onClose }: { readonly team: string; readonly onClose: () => void }) {
  return (
    <OrderForm
      title={`Add a user to ${plain(team)}`}
      submit="Add"
      start={{ user: "", role: firstRole }}
      fields={{
        user: { label: "Name of the user", isNeeded: true },
        role: ({ values, set }) => <RoleField value={values.role} onChange={(role) => set({ role })} />,
      }}
      send={async (body) => await valueOf(api.POST("/api/teams/{team}/members", { params: { path: { team } }, body }))}
      onClose={onClose}
    />
  );
}

interface RoleFieldProps {
  readonly value: Role;
  readonly onChange: (role: Role) => void;
  readonly disabled?: boolean;
}

export function RoleField({ value, onChange, disabled = false }: RoleFieldProps) {
  return (
    <SelectField
      label="Role in the team"
      choices={Object.entries(roleWords)}
      value={value}
      disabled={disabled}
      onChange={({ target }) => onChange(target.value as Role)}
    />
  );
}

interface MemberEditorProps {
  readonly team: string;
  readonly id: string;
  readonly onClose: () => void;
}

function MemberEditor({ team, id, onClose }: MemberEditorProps) {
  const member = useQuery({ ...peopleQueries.member(team, id), staleTime: 0, gcTime: 0, refetchOnWindowFocus: false });
  return (
    <Modal title={member.data === undefined ? "Member" : plain(member.data.value.user)} isOpen onClose={onClose}>
      <Loaded query={member}>
        {(found) => (
          <Steady latest={found}>
            {(base, renew) => <Editor team={team} base={base} renew={renew} onClose={onClose} />}
          </Steady>
        )}
      </Loaded>
    </Modal>
  );
}

interface EditorProps {
  readonly team: string;
  readonly base: Revised<Member>;
  readonly renew: () => void;
  readonly onClose: () => void;
}

function Editor({ team, base, renew, onClose }: EditorProps) {
  const who = useWho();
  const { id: member, user } = base.value;
  const [role, setRole] = useState<Role>(base.value.role);
  const params = { path: { team, member } };
  const change = useRevisedChange({
    base,
    read: async () => await revisedOf(api.GET("/api/teams/{team}/members/{member}", { params })),
    write: async (given: Role, etag) => {
      const headers = { "If-Match": etag };
      return await valueOf(api.PATCH("/api/teams/{team}/members/{member}", { params, headers, body: { role: given } }));
    },
    changes: [["people"]],
    onDone: onClose,
    said: (given) => ({
      text: `${user} is ${given} of ${team} now.`,
      undo: async () => {
        const body = { role: base.value.role };
        const { etag } = await revisedOf(api.GET("/api/teams/{team}/members/{member}", { params }));
        const headers = { "If-Match": etag };
        return await valueOf(api.PATCH("/api/teams/{team}/members/{member}", { params, headers, body }));
      },
    }),
  });
  const remove = useOrder(async () => await valueOf(api.DELETE("/api/teams/{team}/members/{member}", { params })), {
    changes: [["people"]],
    onDone: onClose,
  });
  const isOneself = user === who.user;
  const isAllowed = mayManageTeam(who, team) && !isOneself && (base.value.role === "member" || mayOwnTeam(who, team));
  const name = plain(user);
  return (
    <RevisedForm
      {...{ change, renew, given: role }}
      isChanged={isAllowed && role !== base.value.role}
      rows={change.theirs && [["Role", change.theirs.role, role]]}
      actions={
        <ConfirmButton
          label={isOneself ? "Leave the team" : "Take out of the team"}
          look="danger"
          question={isOneself ? `Leave ${plain(team)}?` : `Take ${name} out of ${plain(team)}?`}
          about={
            <p>
              All tokens, values, logins at servers and running servers of {isOneself ? "yours" : name} in this team are
              removed at once. A member who comes back starts with none of them.
            </p>
          }
          isBusy={remove.isPending || (!isAllowed && !isOneself)}
          onYes={() => remove.mutate()}
        />
      }
    >
      <RoleField value={role} onChange={setRole} disabled={!isAllowed} />
      {!isAllowed && (
        <p className="muted">
          {isOneself ? "No one changes their own role." : "Only owners of the team change its admins and owners."}
        </p>
      )}
      {remove.error !== null && <FailureNote error={remove.error} />}
    </RevisedForm>
  );
}

/** Hands a team over. */
export function NewOwner({ team }: { readonly team: string }) {
  const members = useQuery(peopleQueries.members(team));
  const [member, setMember] = useState("");
  const hand = useOrder(
    async () => await valueOf(api.PUT("/api/teams/{team}/owner", { params: { path: { team } }, body: { member } })),
    { changes: [["people"]] },
  );
  const others = (members.data ?? []).filter(({ role }) => role !== "owner");
  return (
    <Section title="Hand over" about="The present owner becomes an admin of the team.">
      <div className="filters">
        <SelectField
          label="New owner"
          choices={[["", "Choose a member"], ...others.map(({ id, user }) => [id, plain(user)] as const)]}
          value={member}
          onChange={({ target }) => setMember(target.value)}
        />
        <ConfirmButton
          label="Hand over"
          question={`Hand ${plain(team)} over?`}
          about={<p>Only the new owner can give it back, or an admin of the gateway.</p>}
          isBusy={hand.isPending || member === ""}
          onYes={() => hand.mutate()}
        />
      </div>
      {hand.error !== null && <FailureNote error={hand.error} />}
      {hand.isSuccess && <p role="status">The team has another owner.</p>}
    </Section>
  );
}
