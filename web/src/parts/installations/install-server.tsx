import { useQuery } from "@tanstack/react-query";
import { api, valueOf } from "../../api/client.ts";
import { peopleQueries, type Template, type TemplateField } from "../../api/people-queries.ts";
import { plain } from "../../words/format.ts";
import { toGivenValue } from "../../words/settings/server-values.ts";
import { withOr } from "../../words/words.ts";
import { CheckField, SelectField, TextField } from "../forms/field.tsx";
import { OrderForm, type Typed } from "../forms/order-form.tsx";
import { Empty, Loaded } from "../basic/states.tsx";
import { ValueField } from "./value-field.tsx";

const noLocks: ReadonlySet<string> = new Set();
const start = { template: "", slug: "", scope: "", values: {} as Readonly<Record<string, string>>, locks: noLocks };

/** Installs a server for a team from a template, with a form of the template's fields. */
export function InstallServer({ team, onClose }: { readonly team: string; readonly onClose: () => void }) {
  const templates = useQuery(peopleQueries.templates);
  const chosen = ({ template }: typeof start) => templates.data?.find(({ id }) => id === template);
  return (
    <OrderForm
      title={`Install a server for ${plain(team)}`}
      submit="Install"
      start={start}
      fields={{
        template: (typed) => (
          <Loaded query={templates} lines={2}>
            {(all) => <Choice {...typed} templates={all} />}
          </Loaded>
        ),
        slug: (typed) => chosen(typed.values) !== undefined && <NameAndScope {...typed} />,
        scope: () => null,
        values: (typed) =>
          chosen(typed.values)?.fields.map((field) => <Value key={field.path} {...typed} field={field} />),
        locks: ({ values }) =>
          chosen(values)?.fields.length === 0 && <p className="muted">This template has no fields.</p>,
      }}
      isReady={(values) => chosen(values) !== undefined && values.slug.trim() !== ""}
      send={async ({ values, scope, locks, ...named }) => {
        const given = Object.entries(values).filter(([, text]) => text !== "");
        const body = {
          ...named,
          ...(scope === "" ? {} : { scope: scope as "user" | "shared" }),
          values: Object.fromEntries(given.map(([path, text]) => [path, toGivenValue(path, text)])),
          locks: [...locks],
        };
        return await valueOf(api.POST("/api/teams/{team}/installations", { params: { path: { team } }, body }));
      }}
      changes={[["people"], ["status"], ["tools"]]}
      onClose={onClose}
    />
  );
}

type Form = Typed<typeof start>;

function Choice({ values, set, templates }: Form & { readonly templates: readonly Template[] }) {
  if (templates.length === 0)
    return (
      <Empty title="There is no template yet">
        <p>Add one, or ask an admin of the gateway to.</p>
      </Empty>
    );
  const choices = templates.map((one) => [one.id, `${plain(one.slug)} (${sourceWords[one.source]})`] as const);
  return (
    <SelectField
      label="Template"
      choices={[["", "Choose one"], ...choices]}
      value={values.template}
      onChange={({ target: { value } }) =>
        set({ ...start, template: value, slug: nameFor(templates.find(({ id }) => id === value)) })
      }
    />
  );
}

/** Every team has the servers of the file already: installing one again needs another name. */
function nameFor(template: Template | undefined): string {
  if (template === undefined) return "";
  return template.source === "file" ? `${template.slug.replace(/^file:/, "")}-2` : template.slug;
}

function NameAndScope({ values: { slug, scope }, set }: Form) {
  return (
    <>
      <TextField
        label="Name in the team"
        hint="Lowercase letters, digits and hyphens. It is part of the name of each tool."
        value={slug}
        onChange={({ target }) => set({ slug: target.value })}
      />
      <SelectField
        label="Runs"
        choices={scopes}
        value={scope}
        onChange={({ target }) => set({ scope: target.value })}
      />
    </>
  );
}

function Value({ values: { values, locks }, set, field }: Form & { readonly field: TemplateField }) {
  const { path, type, tier, locked, required, description = null, enum: choices = null } = field;
  const isLocked = locked || tier === "template";
  return (
    <div>
      <ValueField
        facts={{
          ...{ path, type, description, choices, isLocked, note: <TierNote field={field} /> },
          required: required && tier === "team",
        }}
        value={values[path] ?? ""}
        onChange={(text) => set({ values: { ...values, [path]: text } })}
      />
      {tier === "user" && !locked && (
        <CheckField
          label={`Keep ${plain(path)} to the team`}
          hint="Members then cannot change it."
          checked={locks.has(path)}
          onChange={({ target }) => set({ locks: withOr(locks, path, target.checked) })}
        />
      )}
    </div>
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
