import { useState } from "react";
import { api, valueOf, type Schemas } from "../../api/client.ts";
import { revisedOf, type Revised } from "../../api/people-queries.ts";
import { Button } from "../basic/button.tsx";
import { Conflict, Steady, useRevisedChange } from "../forms/conflict.tsx";
import { SelectField, TextField } from "../forms/field.tsx";
import { Section } from "../page.tsx";

type Installation = Schemas["Installation"];

interface Given {
  readonly name: string;
  readonly scope: string;
  readonly locks: string;
  readonly requestLogging: string;
  readonly allow: string;
  readonly deny: string;
}

const scopes = [
  ["user", "For each member"],
  ["shared", "Once for the whole team"],
  ["client", "For each client"],
] as const;
const loggings = [
  ["", "As the configuration says"],
  ["full", "Arguments and results"],
  ["metadata", "That it was called"],
  ["off", "Nothing"],
] as const;
const words: Readonly<Record<keyof Given, string>> = {
  name: "Name",
  scope: "Runs",
  locks: "Locked values",
  requestLogging: "Kept of calls",
  allow: "Only these tools",
  deny: "Not these tools",
};

/** How a team offers one of its servers. */
export function InstallationSettings({
  team,
  latest,
}: {
  readonly team: string;
  readonly latest: Revised<Installation>;
}) {
  return <Steady latest={latest}>{(base, renew) => <Settings team={team} base={base} renew={renew} />}</Steady>;
}

interface SettingsProps {
  readonly team: string;
  readonly base: Revised<Installation>;
  readonly renew: () => void;
}

function Settings({ team, base, renew }: SettingsProps) {
  const before = toGiven(base.value);
  const [given, setGiven] = useState(before);
  const params = { path: { team, installation: base.value.id } };
  const change = useRevisedChange({
    base,
    read: async () => await revisedOf(api.GET("/api/teams/{team}/installations/{installation}", { params })),
    async write({ name, scope, locks, requestLogging, allow, deny }: Given, etag) {
      const body = {
        name,
        scope: scope as "user" | "shared" | "client",
        locks: toList(locks),
        settings: {
          ...(requestLogging === "" ? {} : { requestLogging: requestLogging as "full" | "metadata" | "off" }),
          ...(allow.trim() === "" ? {} : { allow: toList(allow) }),
          ...(deny.trim() === "" ? {} : { deny: toList(deny) }),
        },
      };
      const headers = { "If-Match": etag };
      return await valueOf(api.PATCH("/api/teams/{team}/installations/{installation}", { params, headers, body }));
    },
    changes: [["people"], ["status"], ["tools"]],
    onDone: renew,
  });
  const isChanged = JSON.stringify(given) !== JSON.stringify(before);
  const set = (next: Partial<Given>): void => setGiven({ ...given, ...next });
  const theirs = change.theirs && toGiven(change.theirs);
  return (
    <Section title="How it is offered">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (isChanged) change.mutate(given);
        }}
      >
        <TextField label={words.name} value={given.name} onChange={({ target }) => set({ name: target.value })} />
        <SelectField
          label={words.scope}
          choices={scopes}
          value={given.scope}
          onChange={({ target }) => set({ scope: target.value })}
        />
        <TextField
          label={words.locks}
          hint="Paths of values that members cannot change, with spaces between them."
          value={given.locks}
          onChange={({ target }) => set({ locks: target.value })}
        />
        <SelectField
          label={words.requestLogging}
          choices={loggings}
          value={given.requestLogging}
          onChange={({ target }) => set({ requestLogging: target.value })}
        />
        <TextField
          label={words.allow}
          hint="With spaces between them. Empty: all."
          value={given.allow}
          onChange={({ target }) => set({ allow: target.value })}
        />
        <TextField label={words.deny} value={given.deny} onChange={({ target }) => set({ deny: target.value })} />
        <Conflict
          error={change.error}
          rows={
            theirs &&
            (Object.keys(words) as (keyof Given)[])
              .filter((name) => theirs[name] !== given[name])
              .map((name) => [words[name], theirs[name], given[name]] as const)
          }
          isBusy={change.isPending}
          onKeep={() => change.mutate(given)}
          onTake={renew}
        />
        <div className="actions">
          <Button look="main" type="submit" isBusy={change.isPending || !isChanged}>
            Save
          </Button>
        </div>
      </form>
    </Section>
  );
}

function toGiven({ name, scope, locks, settings }: Installation): Given {
  const {
    requestLogging = "",
    allow = [],
    deny = [],
  } = (settings ?? {}) as {
    readonly requestLogging?: string;
    readonly allow?: readonly string[];
    readonly deny?: readonly string[];
  };
  return { name, scope, locks: locks.join(" "), requestLogging, allow: allow.join(" "), deny: deny.join(" ") };
}

function toList(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}
