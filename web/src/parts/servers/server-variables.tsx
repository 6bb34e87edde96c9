import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, valueOf, type Schemas } from "../../api/client.ts";
import { useOrder } from "../../api/queries.ts";
import { plain } from "../../words/format.ts";
import { Button } from "../basic/button.tsx";
import { ConfirmButton } from "../forms/confirm.tsx";
import { TextField } from "../forms/field.tsx";
import { Section } from "../page.tsx";
import { FailureNote, Loaded } from "../basic/states.tsx";

type Variable = Schemas["ServerVariables"]["variables"][number];

const words: Readonly<Record<Variable["from"], string>> = {
  environment: "Set where the gateway was started.",
  kept: "A value is kept, and is not shown. What you type replaces it.",
  default: "Not set: the entry has a default.",
  nowhere: "Not set: the server cannot be used without it.",
};

interface ServerVariablesProps {
  readonly slug: string;
  /** Whether only what keeps the server from being used is asked for. */
  readonly isUrgent?: boolean;
}

/** A field for each variable that the entry of a server refers to. Values are kept encrypted, and never shown. */
export function ServerVariables({ slug, isUrgent = false }: ServerVariablesProps) {
  const params = { path: { slug } };
  const variables = useQuery({
    queryKey: ["config", "variables", slug],
    queryFn: async () => await valueOf(api.GET("/api/servers/{slug}/variables", { params })),
  });
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const keep = useOrder(
    async (values: Readonly<Record<string, string | null>>) =>
      await valueOf(api.PATCH("/api/servers/{slug}/variables", { params, body: { values } })),
    { changes: [["config"], ["status"], ["tools"]], onDone: () => setTyped({}) },
  );
  const given = Object.fromEntries(Object.entries(typed).filter(([, value]) => value !== ""));
  const shown = (all: readonly Variable[]) => all.filter(({ from }) => !isUrgent || from === "nowhere");
  if (isUrgent && shown(variables.data?.variables ?? []).length === 0) return null;
  const form = (rows: readonly Variable[]) => (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (!keep.isPending && Object.keys(given).length > 0) keep.mutate(given);
      }}
    >
      {rows.map(({ name, from }) => (
        <div key={name} className="filters">
          <TextField
            label={plain(name)}
            hint={words[from]}
            type="password"
            autoComplete="new-password"
            disabled={from === "environment"}
            value={typed[name] ?? ""}
            onChange={({ target }) => setTyped({ ...typed, [name]: target.value })}
          />
          {from === "kept" && (
            <ConfirmButton
              label="Forget"
              look="danger"
              question={`Forget the value of ${plain(name)}?`}
              about={<p>Every server whose entry names it loses it.</p>}
              isBusy={keep.isPending}
              onYes={() => keep.mutate({ [name]: null })}
            />
          )}
        </div>
      ))}
      <div className="actions">
        <Button look="main" type="submit" isBusy={keep.isPending || Object.keys(given).length === 0}>
          Keep encrypted
        </Button>
      </div>
      {keep.error !== null && <FailureNote error={keep.error} />}
      {keep.isSuccess && <p role="status">Done. The server uses it from now on.</p>}
    </form>
  );
  if (isUrgent) return form(shown(variables.data?.variables ?? []));
  return (
    <Section
      title="Values"
      about="Variables that its entry refers to. A value is kept for all servers that name the variable."
    >
      <Loaded query={variables}>
        {({ variables: all }) =>
          all.length === 0 ? <p className="muted">Its entry refers to no variable.</p> : form(all)
        }
      </Loaded>
    </Section>
  );
}
