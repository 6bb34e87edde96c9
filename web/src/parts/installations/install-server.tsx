import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, valueOf } from "../../api/client.ts";
import { peopleQueries, type Template, type TemplateField } from "../../api/people-queries.ts";
import { useOrder } from "../../api/queries.ts";
import { plain } from "../../words/format.ts";
import { toGivenValue } from "../../words/settings/server-values.ts";
import { Button } from "../basic/button.tsx";
import { Modal } from "../basic/confirm.tsx";
import { CheckField, SelectField, TextField } from "../basic/field.tsx";
import { Empty, FailureNote, Loaded } from "../basic/states.tsx";
import { ValueField } from "./value-field.tsx";

interface InstallServerProps {
  readonly team: string;
  readonly onClose: () => void;
}

/** Installs a server for a team from a template, with a form of what the template asks for. */
export function InstallServer({ team, onClose }: InstallServerProps) {
  const [id, setId] = useState("");
  const templates = useQuery(peopleQueries.templates);
  const chosen = templates.data?.find((one) => one.id === id);
  return (
    <Modal title={`Install a server for ${plain(team)}`} isOpen onClose={onClose}>
      <Loaded query={templates}>
        {(all) => {
          // Every team has the servers of the file already; installing one again needs another name.
          const choices = all.map((one) => [one.id, `${plain(one.slug)} (${sourceWords[one.source]})`] as const);
          return all.length === 0 ? (
            <Empty title="There is no template yet">
              <p>Make one, or ask an admin of the gateway to.</p>
            </Empty>
          ) : (
            <>
              <SelectField
                label="Template"
                choices={[["", "Choose one"], ...choices]}
                value={id}
                onChange={({ target }) => setId(target.value)}
              />
              {chosen !== undefined && <InstallForm key={id} team={team} template={chosen} onClose={onClose} />}
            </>
          );
        }}
      </Loaded>
    </Modal>
  );
}

const sourceWords: Readonly<Record<Template["source"], string>> = {
  own: "made here",
  registry: "from the registry",
  file: "of the configuration",
};

const scopes = [
  ["", "As the template says"],
  ["user", "For each member"],
  ["shared", "Once for the whole team"],
] as const;

interface InstallFormProps extends InstallServerProps {
  readonly template: Template;
}

function InstallForm({ team, template, onClose }: InstallFormProps) {
  const [slug, setSlug] = useState(
    template.source === "file" ? `${template.slug.replace(/^file:/, "")}-2` : template.slug,
  );
  const [scope, setScope] = useState("");
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [locks, setLocks] = useState<ReadonlySet<string>>(new Set());
  const add = useOrder(
    async () => {
      const given = Object.entries(values).filter(([, text]) => text !== "");
      const body = {
        template: template.id,
        slug: slug.trim(),
        ...(scope === "" ? {} : { scope: scope as "user" | "shared" }),
        values: Object.fromEntries(given.map(([path, text]) => [path, toGivenValue(path, text)])),
        locks: [...locks],
      };
      return await valueOf(api.POST("/api/teams/{team}/installations", { params: { path: { team } }, body }));
    },
    { changes: [["people"], ["status"], ["tools"]], onDone: onClose },
  );
  const lock = (path: string, isOn: boolean): void => {
    const next = new Set(locks);
    if (isOn) next.add(path);
    else next.delete(path);
    setLocks(next);
  };
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (!add.isPending) add.mutate();
      }}
    >
      <TextField
        label="Name in the team"
        hint="Small letters, digits and hyphens: tools are called by it."
        value={slug}
        onChange={({ target }) => setSlug(target.value)}
      />
      <SelectField label="Runs" choices={scopes} value={scope} onChange={({ target }) => setScope(target.value)} />
      {template.fields.map((field) => {
        const isLocked = field.locked || field.tier === "template";
        return (
          <div key={field.path}>
            <ValueField
              facts={{
                ...{ path: field.path, type: field.type, isLocked, note: <TierNote field={field} /> },
                required: field.required && field.tier === "team",
                description: field.description ?? null,
                choices: field.enum ?? null,
              }}
              value={values[field.path] ?? ""}
              onChange={(text) => setValues({ ...values, [field.path]: text })}
            />
            {field.tier === "user" && !field.locked && (
              <CheckField
                label={`Keep ${plain(field.path)} to the team`}
                hint="Members cannot change it then."
                checked={locks.has(field.path)}
                onChange={({ target }) => lock(field.path, target.checked)}
              />
            )}
          </div>
        );
      })}
      {template.fields.length === 0 && <p className="muted">This template asks for nothing.</p>}
      {add.error !== null && <FailureNote error={add.error} />}
      <div className="actions">
        <Button look="main" type="submit" isBusy={add.isPending || slug.trim() === ""}>
          Install
        </Button>
      </div>
    </form>
  );
}

function TierNote({ field: { tier, locked, required, default: fallback } }: { readonly field: TemplateField }) {
  const without = fallback === undefined ? "" : ` Without one: ${plain(fallback)}.`;
  if (locked || tier === "template") return <>The template decides this.{without}</>;
  if (tier === "team") return <>The team gives it.{without}</>;
  return required ? (
    <>Each member has to give their own.{without}</>
  ) : (
    <>Members may give their own in its place.{without}</>
  );
}
