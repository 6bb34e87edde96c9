import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, valueOf, type Schemas } from "../../api/client.ts";
import { revisedOf, type Revised } from "../../api/people-queries.ts";
import { useOrder } from "../../api/queries.ts";
import { mayOwnTeam, useWho } from "../../api/who.ts";
import { counted, plain } from "../../words/format.ts";
import { ConfirmButton } from "../forms/confirm.tsx";
import { RevisedForm, Steady, useRevisedChange } from "../forms/conflict.tsx";
import { FieldList, type Fields } from "../forms/order-form.tsx";
import { Section } from "../page.tsx";
import { FailureNote } from "../basic/states.tsx";
import { TeamRules } from "./team-rules.tsx";
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
  const [given, setGiven] = useState(before);
  const set = (next: Partial<typeof before>): void => setGiven({ ...given, ...next });
  const params = { path: { team } };
  const change = useRevisedChange({
    base,
    read: async () => await revisedOf(api.GET("/api/teams/{team}", { params })),
    async write({ title, members, servers, programs }: typeof before, etag) {
      const limits = {
        ...numberOf("members", members),
        ...numberOf("servers", servers),
        ...numberOf("programs", programs),
      };
      const body = { title, ...(isAdmin ? { limits } : {}) };
      return await valueOf(api.PATCH("/api/teams/{team}", { params, headers: { "If-Match": etag }, body }));
    },
    changes: [["people"]],
    onDone: renew,
  });
  const isChanged = JSON.stringify(given) !== JSON.stringify(before);
  const theirs = change.theirs && toTexts(change.theirs);
  const number = (label: string, min: number) => ({ label, kind: { type: "number", min }, isFixed: !isAdmin }) as const;
  const fields = {
    title: { label: "Title" },
    members: {
      ...number("Most members", 1),
      hint: isAdmin ? "Empty: as many as you like." : "Only admins of the gateway set limits.",
    },
    servers: number("Most servers of its own", 0),
    programs: number("Most of these that are programs", 0),
  } satisfies Fields<typeof before>;
  const names = Object.keys(fields) as (keyof typeof before)[];
  const rows = theirs && names.map((name) => [fields[name].label, theirs[name], given[name]] as const);
  return (
    <>
      <Section title="The team">
        <RevisedForm {...{ change, given, isChanged, rows, renew }}>
          <FieldList fields={fields} typed={{ values: given, set }} />
        </RevisedForm>
      </Section>
      <TeamRules latest={base} />
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
