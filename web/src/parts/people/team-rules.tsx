import { useState } from "react";
import { toolEffects, type ToolEffect } from "../../../../src/kernel/call/tool-effects.ts";
import { api, valueOf, type Schemas } from "../../api/client.ts";
import { revisedOf, type Revised } from "../../api/people-queries.ts";
import { plain } from "../../words/format.ts";
import { approverText, effectNames } from "../../words/tool-effect.ts";
import { Button } from "../basic/button.tsx";
import { FailureNote } from "../basic/states.tsx";
import { Steady, useRevisedChange } from "../forms/conflict.tsx";
import { CheckField, SelectField, TextField } from "../forms/field.tsx";
import { Section } from "../page.tsx";

type Team = Schemas["Team"];
type Rule = Schemas["PolicyRule"];

/** A team's own rules about calls of the servers that it installed. */
export function TeamRules({ latest }: { readonly latest: Revised<Team> }) {
  return <Steady latest={latest}>{(base, renew) => <Rules base={base} renew={renew} />}</Steady>;
}

function Rules({ base, renew }: { readonly base: Revised<Team>; readonly renew: () => void }) {
  const { slug: team, rules } = base.value;
  const params = { path: { team } };
  const change = useRevisedChange({
    base,
    read: async () => await revisedOf(api.GET("/api/teams/{team}", { params })),
    write: async (next: readonly Rule[], etag) =>
      await valueOf(
        api.PATCH("/api/teams/{team}", { params, headers: { "If-Match": etag }, body: { rules: [...next] } }),
      ),
    changes: [["people"], ["tools"]],
    onDone: renew,
  });
  return (
    <Section title="Rules" about="Calls of the team's own servers: they only make the gateway's rules stricter">
      {rules.length > 0 && (
        <ol className="list">
          {rules.map((rule, at) => (
            // Rules have no names: their place is what people know them by.
            // oxlint-disable-next-line react/no-array-index-key
            <li key={at} className="need">
              <span className="grow">{plain(ruleSentence(rule))}</span>
              <Button isBusy={change.isPending} onClick={() => change.mutate(rules.filter((one) => one !== rule))}>
                Remove
              </Button>
            </li>
          ))}
        </ol>
      )}
      <NewRule isBusy={change.isPending} onAdd={(rule) => change.mutate([...rules, rule])} />
      {change.error !== null && <FailureNote error={change.error} />}
    </Section>
  );
}

const outcomes = [
  ["self", "wait for the person's own yes"],
  ["team-admin", "wait for another admin of the team"],
  ["admin", "wait for an admin of the gateway"],
  ["deny", "are refused"],
] as const;

function NewRule({ isBusy, onAdd }: { readonly isBusy: boolean; readonly onAdd: (rule: Rule) => void }) {
  const [servers, setServers] = useState("");
  const [tools, setTools] = useState("");
  const [effects, setEffects] = useState<readonly ToolEffect[]>([]);
  const [outcome, setOutcome] = useState<string>("team-admin");
  const approver = outcomes.map(([name]) => name).find((name) => name === outcome) ?? "self";
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        const about = { ...listOf("servers", servers), ...listOf("tools", tools) };
        const does = effects.length === 0 ? {} : { effects: [...effects] };
        onAdd({ ...about, ...does, ...(approver === "deny" ? { then: "deny" } : { then: "ask", approver }) });
      }}
    >
      <TextField
        label="Servers"
        hint="Names with * as a wildcard, separated by commas. Empty: all of the team."
        value={servers}
        onChange={({ target }) => setServers(target.value)}
      />
      <TextField
        label="Tools"
        hint="The servers' own names. Empty: all."
        value={tools}
        onChange={({ target }) => setTools(target.value)}
      />
      <fieldset>
        <legend>Calls that</legend>
        {toolEffects.map((effect) => (
          <CheckField
            key={effect}
            label={effectNames[effect]}
            checked={effects.includes(effect)}
            onChange={({ target }) =>
              setEffects(target.checked ? [...effects, effect] : effects.filter((one) => one !== effect))
            }
          />
        ))}
      </fieldset>
      <SelectField
        label="These calls"
        choices={outcomes}
        value={outcome}
        onChange={({ target }) => setOutcome(target.value)}
      />
      <div className="actions">
        <Button type="submit" isBusy={isBusy}>
          Add the rule
        </Button>
      </div>
    </form>
  );
}

function listOf(name: "servers" | "tools", text: string): Partial<Rule> {
  const names = text.split(",").map((one) => one.trim());
  const given = names.filter((one) => one !== "");
  return given.length === 0 ? {} : { [name]: given };
}

/** `mail: send_*, which sends something, of members: waits for another admin of the team`. */
function ruleSentence({ servers, tools, effects, roles, when, then, approver = "self" }: Rule): string {
  const about = [
    `${(servers ?? ["all servers"]).join(", ")}: ${(tools ?? ["all tools"]).join(", ")}`,
    ...(effects === undefined ? [] : [`that ${effects.map((effect) => effectNames[effect]).join(" or ")}`]),
    ...(roles === undefined ? [] : [`called by ${roles.join(", ")}`]),
    ...Object.entries(when ?? {}).map(([path, patterns]) => `with ${path} like ${patterns.join(" or ")}`),
  ];
  return `${about.join(", ")} – ${then === "deny" ? "refused" : approverText(approver)}`;
}
