import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, valueOf, type Schemas } from "../../api/client.ts";
import { revisedOf, type Revised } from "../../api/people-queries.ts";
import { useOrder } from "../../api/queries.ts";
import { mayOwnTeam, useWho } from "../../api/who.ts";
import { counted, plain } from "../../words/format.ts";
import { Button } from "../basic/button.tsx";
import { ConfirmButton } from "../forms/confirm.tsx";
import { Conflict, Steady, useRevisedChange } from "../forms/conflict.tsx";
import { TextField } from "../forms/field.tsx";
import { Section } from "../page.tsx";
import { FailureNote } from "../basic/states.tsx";
import { NewOwner } from "./team-members.tsx";

type Team = Schemas["Team"];

/** What a team is called, and how much it may have. */
export function TeamSettings({ latest }: { readonly latest: Revised<Team> }) {
  return <Steady latest={latest}>{(base, renew) => <Settings base={base} renew={renew} />}</Steady>;
}

function Settings({ base, renew }: { readonly base: Revised<Team>; readonly renew: () => void }) {
  const { slug: team } = base.value;
  const who = useWho();
  const isAdmin = who.roles.includes("admin");
  const before = toTexts(base.value);
  const [title, setTitle] = useState(before.title);
  const [members, setMembers] = useState(before.members);
  const [servers, setServers] = useState(before.servers);
  const [programs, setPrograms] = useState(before.programs);
  const params = { path: { team } };
  const change = useRevisedChange({
    base,
    read: async () => await revisedOf(api.GET("/api/teams/{team}", { params })),
    async write(given: ReturnType<typeof toTexts>, etag) {
      const limits = {
        ...numberOf("members", given.members),
        ...numberOf("servers", given.servers),
        ...numberOf("programs", given.programs),
      };
      const body = { title: given.title, ...(isAdmin ? { limits } : {}) };
      return await valueOf(api.PATCH("/api/teams/{team}", { params, headers: { "If-Match": etag }, body }));
    },
    changes: [["people"]],
    onDone: renew,
  });
  const mine = { title, members, servers, programs };
  const isChanged = JSON.stringify(mine) !== JSON.stringify(before);
  const theirs = change.theirs && toTexts(change.theirs);
  return (
    <>
      <Section title="The team">
        <form
          className="stack"
          onSubmit={(event) => {
            event.preventDefault();
            if (isChanged) change.mutate(mine);
          }}
        >
          <TextField label="Title" value={title} onChange={({ target }) => setTitle(target.value)} />
          <TextField
            label="Most members"
            type="number"
            min={1}
            hint={isAdmin ? "Empty: as many as you like." : "Only admins of the gateway set limits."}
            disabled={!isAdmin}
            value={members}
            onChange={({ target }) => setMembers(target.value)}
          />
          <TextField
            label="Most servers of its own"
            type="number"
            min={0}
            disabled={!isAdmin}
            value={servers}
            onChange={({ target }) => setServers(target.value)}
          />
          <TextField
            label="Most of these that are programs"
            type="number"
            min={0}
            disabled={!isAdmin}
            value={programs}
            onChange={({ target }) => setPrograms(target.value)}
          />
          <Conflict
            error={change.error}
            rows={
              theirs && [
                ["Title", theirs.title, title],
                ["Most members", theirs.members, members],
                ["Most servers", theirs.servers, servers],
                ["Most programs", theirs.programs, programs],
              ]
            }
            isBusy={change.isPending}
            onKeep={() => change.mutate(mine)}
            onTake={renew}
          />
          <div className="actions">
            <Button look="main" type="submit" isBusy={change.isPending || !isChanged}>
              Save
            </Button>
          </div>
        </form>
      </Section>
      {mayOwnTeam(who, team) && (
        <>
          <NewOwner team={team} />
          <RemoveTeam team={base.value} />
        </>
      )}
    </>
  );
}

function toTexts({ title, limits }: Team) {
  const text = (value: number | undefined): string => (value === undefined ? "" : String(value));
  return { title, members: text(limits.members), servers: text(limits.servers), programs: text(limits.programs) };
}

function numberOf(name: keyof Team["limits"], text: string): Team["limits"] {
  return text.trim() === "" ? {} : { [name]: Number(text) };
}

function RemoveTeam({ team: { slug: team, members } }: { readonly team: Team }) {
  const navigate = useNavigate();
  const remove = useOrder(async () => await valueOf(api.DELETE("/api/teams/{team}", { params: { path: { team } } })), {
    changes: [["people"]],
    onDone: () => void navigate({ to: "/people" }),
  });
  return (
    <Section title="Remove the team">
      <ConfirmButton
        label="Remove the team"
        look="danger"
        question={`Remove ${plain(team)}?`}
        about={
          <p>
            {counted(members, "member")} lose it at once, with its tokens, invitations, servers, values and secrets.
            This cannot be undone; the audit keeps what happened in it.
          </p>
        }
        isBusy={remove.isPending}
        onYes={() => remove.mutate()}
      />
      {remove.error !== null && <FailureNote error={remove.error} />}
    </Section>
  );
}
