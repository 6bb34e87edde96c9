import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, valueOf, type Schemas } from "../../api/client.ts";
import { peopleQueries, revisedOf, type Revised } from "../../api/people-queries.ts";
import { useOrder } from "../../api/queries.ts";
import { useWho } from "../../api/who.ts";
import { plain } from "../../words/format.ts";
import { Button } from "../basic/button.tsx";
import { ConfirmButton, Modal } from "../forms/confirm.tsx";
import { RevisedForm, Steady, useRevisedChange } from "../forms/conflict.tsx";
import { CheckField, TextField } from "../forms/field.tsx";
import { FailureNote, Loaded } from "../basic/states.tsx";
import { UserAccess } from "./user-access.tsx";

/** One user, as an admin of the gateway changes them. */
export function UserEditor({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const user = useQuery({ ...peopleQueries.user(id), staleTime: 0, gcTime: 0, refetchOnWindowFocus: false });
  return (
    <Modal title={user.data === undefined ? "User" : plain(user.data.value.name)} isOpen onClose={onClose}>
      <Loaded query={user}>
        {(found) => (
          <>
            <Steady latest={found}>{(base, renew) => <Editor base={base} renew={renew} onClose={onClose} />}</Steady>
            <UserAccess id={id} name={found.value.name} />
          </>
        )}
      </Loaded>
    </Modal>
  );
}

interface EditorProps {
  readonly base: Revised<Schemas["User"]>;
  readonly renew: () => void;
  readonly onClose: () => void;
}

function Editor({ base, renew, onClose }: EditorProps) {
  const { id } = base.value;
  const who = useWho();
  const [name, setName] = useState(base.value.name);
  const [isAdmin, setAdmin] = useState(base.value.role === "admin");
  const isOneself = base.value.name === who.user;
  const path = { path: { id } };
  const change = useRevisedChange({
    base,
    read: async () => await revisedOf(api.GET("/api/users/{id}", { params: path })),
    async write(given: { readonly name: string; readonly isAdmin: boolean }, etag) {
      let tag = etag;
      if (given.name !== base.value.name) {
        const body = { name: given.name };
        const headers = { "If-Match": tag };
        ({ etag: tag } = await revisedOf(api.PATCH("/api/users/{id}", { params: path, headers, body })));
      }
      if (given.isAdmin !== (base.value.role === "admin")) {
        const body = { role: given.isAdmin ? ("admin" as const) : ("user" as const) };
        await revisedOf(api.PUT("/api/users/{id}/role", { params: path, headers: { "If-Match": tag }, body }));
      }
    },
    changes: [["people"]],
    onDone: renew,
  });
  const isChanged = name.trim() !== base.value.name || isAdmin !== (base.value.role === "admin");
  const given = { name: name.trim(), isAdmin };
  const { theirs } = change;
  const rows = theirs && [
    ["Name", theirs.name, given.name] as const,
    ["Role", theirs.role, isAdmin ? "admin" : "user"] as const,
    ["State", theirs.status, base.value.status] as const,
  ];
  const actions = <Dangers user={base.value} isOneself={isOneself} onClose={onClose} />;
  return (
    <RevisedForm {...{ change, given, isChanged, rows, renew, actions }}>
      <TextField label="Name" value={name} onChange={({ target }) => setName(target.value)} />
      <CheckField
        label="Admin of the gateway"
        hint={isOneself ? "No one changes their own role." : "May do everything, in every team."}
        checked={isAdmin}
        disabled={isOneself}
        onChange={({ target }) => setAdmin(target.checked)}
      />
    </RevisedForm>
  );
}

type Danger = "disable" | "enable" | "revoke" | "remove";

interface DangersProps {
  readonly user: Schemas["User"];
  readonly isOneself: boolean;
  readonly onClose: () => void;
}

function Dangers({ user, isOneself, onClose }: DangersProps) {
  const { id, name, status, teams } = user;
  const params = { path: { id } };
  const order = useOrder(
    async (what: Danger) => {
      if (what === "disable") await valueOf(api.POST("/api/users/{id}/disable", { params }));
      else if (what === "enable") await valueOf(api.POST("/api/users/{id}/enable", { params }));
      else if (what === "revoke") await valueOf(api.DELETE("/api/users/{id}/tokens", { params }));
      else await valueOf(api.DELETE("/api/users/{id}", { params }));
      return what;
    },
    {
      changes: [["people"]],
      onDone: (what) => void (what === "remove" && onClose()),
      said(what) {
        if (what === "disable")
          return {
            text: `${name} is suspended.`,
            undo: async () => await valueOf(api.POST("/api/users/{id}/enable", { params })),
          };
        if (what === "enable")
          return {
            text: `${name} is let in again.`,
            undo: async () => await valueOf(api.POST("/api/users/{id}/disable", { params })),
          };
        return what === "remove" ? { text: `${name} is removed.` } : undefined;
      },
    },
  );
  const who = plain(name);
  return (
    <>
      {status === "active" ? (
        <ConfirmButton
          label="Suspend"
          look="danger"
          question={`Suspend ${who}?`}
          about={
            <p>
              {who} is out at once: streams and calls end, and tokens, apps and browsers open nothing. Memberships and
              values stay, and come back when {who} is let in again.
            </p>
          }
          isBusy={order.isPending || isOneself}
          onYes={() => order.mutate("disable")}
        />
      ) : (
        <Button isBusy={order.isPending} onClick={() => order.mutate("enable")}>
          Let in again
        </Button>
      )}
      <ConfirmButton
        label="End all logins"
        look="danger"
        question={`End all logins of ${who}?`}
        about={
          <p>
            Every token, app and browser of {who} ends at once, in all teams. {who} can log in again, and make new
            tokens.
          </p>
        }
        isBusy={order.isPending}
        onYes={() => order.mutate("revoke")}
      />
      <ConfirmButton
        label="Remove"
        look="danger"
        question={`Remove ${who}?`}
        about={
          <p>
            {who} loses {teams.length === 1 ? "the team" : "all teams"}
            {teams.length > 0 && ` (${teams.map(({ team }) => plain(team)).join(", ")})`}, with tokens, logins, values
            and running servers there. This cannot be undone; the audit keeps what {who} did.
          </p>
        }
        isBusy={order.isPending || isOneself}
        onYes={() => order.mutate("remove")}
      />
      {order.error !== null && <FailureNote error={order.error} />}
      {order.isSuccess && order.data === "revoke" && <p role="status">All logins have ended.</p>}
    </>
  );
}
