import { useState } from "react";
import { api, valueOf, type Schemas } from "../../api/client.ts";
import { revisedOf, type Revised } from "../../api/people-queries.ts";
import { RevisedForm, Steady, useRevisedChange } from "../forms/conflict.tsx";
import { FieldList, type Fields } from "../forms/order-form.tsx";
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
const fields = {
  name: { label: "Name" },
  scope: { label: "Runs", choices: scopes },
  locks: { label: "Locked values", hint: "Paths of values that members cannot change, with spaces between them." },
  requestLogging: { label: "Kept of calls", choices: loggings },
  allow: { label: "Only these tools", hint: "With spaces between them. Empty: all." },
  deny: { label: "Not these tools" },
} satisfies Fields<Given>;

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
  const rows =
    theirs &&
    (Object.keys(fields) as (keyof Given)[])
      .filter((name) => theirs[name] !== given[name])
      .map((name) => [fields[name].label, theirs[name], given[name]] as const);
  return (
    <Section title="How it is offered">
      <RevisedForm {...{ change, given, isChanged, rows, renew }}>
        <FieldList fields={fields} typed={{ values: given, set }} />
      </RevisedForm>
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
