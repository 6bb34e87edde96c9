import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, valueOf, type Schemas } from "../../api/client.ts";
import { useOrder } from "../../api/queries.ts";
import { count, plain } from "../../words/format.ts";
import { withOr } from "../../words/words.ts";
import { Button } from "../basic/button.tsx";
import { ProfileChoice } from "./profile-choice.tsx";
import { Modal } from "../forms/confirm.tsx";
import { CheckField } from "../forms/field.tsx";
import { FailureNote, Skeleton } from "../basic/states.tsx";

/** What can be done to a client's file. */
export type Action = "connect" | "disconnect" | "undo";

interface ClientChangeProps {
  readonly id: string;
  /** As people call the client. */
  readonly name: string;
  readonly action: Action;
  readonly onClose: () => void;
}

const titles: Readonly<Record<Action, string>> = {
  connect: "Connect",
  disconnect: "Disconnect",
  undo: "Undo the last change of",
};

async function change({
  id,
  action,
  ...body
}: {
  readonly id: string;
  readonly action: Action;
  readonly apply: boolean;
  readonly replace?: boolean;
  readonly off?: string[];
  readonly profile?: string;
}) {
  const params = { path: { id } };
  if (action === "connect") return await valueOf(api.POST("/api/clients/{id}/connect", { params, body }));
  if (action === "disconnect") return await valueOf(api.POST("/api/clients/{id}/disconnect", { params, body }));
  return await valueOf(api.POST("/api/clients/{id}/undo", { params, body }));
}

/** Shows what would be changed first; nothing is written before. */
export function ClientChange({ id, name, action, onClose }: ClientChangeProps) {
  // Of the client's own servers, those that stay on in it: the first preview, which names them, has none.
  const [kept, setKept] = useState<ReadonlySet<string>>(new Set());
  const [shared, setShared] = useState<FileChange["shared"]>([]);
  const [profile, setProfile] = useState("");
  const having = profile === "" ? {} : { profile };
  const off = shared.map(({ name: one }) => one).filter((one) => !kept.has(one));
  const preview = useQuery({
    queryKey: ["client-change", id, action, profile, [...kept]],
    queryFn: async () => {
      const choice = kept.size === 0 ? { replace: true } : { off };
      const seen = await change({ id, action, apply: false, ...choice, ...having });
      setShared(seen.shared);
      return seen;
    },
    staleTime: 0,
    gcTime: 0,
  });
  const apply = useOrder(async () => await change({ id, action, apply: true, off, ...having }), {
    changes: [["clients"]],
  });
  return (
    <Modal
      title={`${titles[action]} ${plain(name)}`}
      isOpen
      onClose={onClose}
      actions={
        apply.data === undefined && (
          <Button
            look="main"
            isBusy={apply.isPending || preview.data === undefined || preview.data.changes.length === 0}
            onClick={() => apply.mutate()}
          >
            Change the file
          </Button>
        )
      }
    >
      {action === "connect" && apply.data === undefined && <ProfileChoice value={profile} onChange={setProfile} />}
      {shared.length > 0 && apply.data === undefined && (
        <Duplicates shared={shared} kept={kept} onKeep={(one, isKept) => setKept((now) => withOr(now, one, isKept))} />
      )}
      {preview.isPending && <Skeleton />}
      {preview.isError && <FailureNote error={preview.error} />}
      {apply.data === undefined && preview.data !== undefined && <Preview action={action} change={preview.data} />}
      {apply.error !== null && <FailureNote error={apply.error} />}
      {apply.data !== undefined && <Done change={apply.data} />}
    </Modal>
  );
}

type FileChange = Schemas["ClientFileChange"];

interface DuplicatesProps {
  readonly shared: FileChange["shared"];
  readonly kept: ReadonlySet<string>;
  readonly onKeep: (name: string, isKept: boolean) => void;
}

/** Servers that the client has itself, each with what it saves to switch it off there. */
function Duplicates({ shared, kept, onKeep }: DuplicatesProps) {
  return (
    <fieldset className="stack">
      <legend>Switch off in the client what the gateway has as well</legend>
      <p className="muted">Otherwise its model sees both. They come back when the client is disconnected.</p>
      {shared.map(({ name, tokens }) => (
        <CheckField
          key={name}
          label={plain(name)}
          {...(tokens === null ? {} : { hint: `saves about ${count(tokens)} tokens` })}
          checked={!kept.has(name)}
          onChange={({ target }) => onKeep(name, !target.checked)}
        />
      ))}
    </fieldset>
  );
}

const unchanged: Readonly<Record<Action, string>> = {
  connect: "It is connected already: nothing has to be changed.",
  disconnect: "Nothing in its file leads to this gateway.",
  undo: "Its file is already as it was before the last change.",
};

function Preview({ action, change: { changes, notes } }: { readonly action: Action; readonly change: FileChange }) {
  return (
    <>
      {changes.length === 0 ? (
        <p>{unchanged[action]}</p>
      ) : (
        <pre tabIndex={0} className="wrap" aria-label="What would be changed">
          {plain(changes.join("\n"))}
        </pre>
      )}
      <Notes notes={notes} />
    </>
  );
}

function Done({ change: { reload, notes } }: { readonly change: FileChange }) {
  return (
    <div className="note good" role="status">
      <div className="grow">
        <p>The file is changed. {plain(reload)}</p>
        <Notes notes={notes} />
      </div>
    </div>
  );
}

function Notes({ notes }: { readonly notes: readonly string[] }) {
  if (notes.length === 0) return null;
  return (
    <ul aria-label="To know">
      {notes.map((note) => (
        <li key={note}>{plain(note)}</li>
      ))}
    </ul>
  );
}
