import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, type Schemas } from "../../api/client.ts";
import { peopleQueries, revisedOf, type Revised } from "../../api/people-queries.ts";
import { ago, plain } from "../../words/format.ts";
import { toGivenValue, toTypedValue } from "../../words/settings/server-values.ts";
import { Button } from "../basic/button.tsx";
import { RevisedForm, Steady, useRevisedChange } from "../forms/conflict.tsx";
import { Section } from "../page.tsx";
import { Loaded } from "../basic/states.tsx";
import { ValueField } from "./value-field.tsx";

interface ValuesFormProps {
  readonly team: string;
  readonly installation: string;
  readonly whose: "team" | "me";
  readonly title: string;
  readonly isAllowed: boolean;
}

/** What one tier gives a server. Secrets can be set and taken away, and are never shown. */
export function ValuesForm(props: ValuesFormProps) {
  const { team, installation, whose, title } = props;
  const values = useQuery({ ...peopleQueries.values(team, installation, whose), refetchOnWindowFocus: false });
  return (
    <Section title={title}>
      <Loaded query={values}>
        {(base) =>
          !base.value.fields.some((field) => isOffered(field, whose)) ? (
            <p className="muted">There are no values to set.</p>
          ) : (
            <Steady latest={base}>
              {(begun, renew, touch) => <Fields {...props} base={begun} renew={renew} touch={touch} />}
            </Steady>
          )
        }
      </Loaded>
    </Section>
  );
}

/** Members need not see values of the team alone. */
function isOffered({ editable, set }: Field, whose: "team" | "me"): boolean {
  return whose === "team" || editable || set;
}

type Values = Schemas["ServerValues"];
type Field = Values["fields"][number];
/** What somebody typed, by path; null takes the value away. */
type Typed = Readonly<Record<string, string | null>>;

interface FieldsProps extends ValuesFormProps {
  readonly base: Revised<Values>;
  readonly renew: () => void;
  readonly touch: () => void;
}

function Fields({ team, installation, whose, isAllowed, base, renew, touch }: FieldsProps) {
  const [typed, setTyped] = useState<Typed>({});
  const params = { path: { team, installation } };
  const change = useRevisedChange({
    base,
    read: async () => await readValues({ team, installation, whose }),
    async write(given: Typed, etag, { address }) {
      const values = Object.fromEntries(
        Object.entries(given).map(([path, text]) => [path, text === null ? null : toGivenValue(path, text)]),
      );
      const init = { params, headers: { "If-Match": etag }, body: { values, address } };
      return await revisedOf(
        whose === "team"
          ? api.PATCH("/api/teams/{team}/installations/{installation}/config/team", init)
          : api.PATCH("/api/teams/{team}/installations/{installation}/config/me", init),
      );
    },
    changes: [["people"], ["status"], ["tools"]],
    onDone: renew,
  });
  const fields = base.value.fields.filter((field) => isOffered(field, whose));
  const isChanged = Object.keys(typed).length > 0;
  const theirs = change.theirs?.fields;
  const where = change.theirs?.address ?? "a program";
  const wasWhere = base.value.address ?? "a program";
  /** A secret is never shown, so an empty field says nothing of it: it is taken away with its button. */
  const type = ({ path, type: kind }: Field, text: string): void => {
    const { [path]: _before, ...others } = typed;
    setTyped(text === "" && kind === "secret" ? others : { ...typed, [path]: text === "" ? null : text });
  };
  const removable = fields.filter(
    ({ path, type: kind, set, editable }) => kind === "secret" && set && editable && isAllowed && typed[path] !== null,
  );
  const rows = theirs && [
    ...(where === wasWhere ? [] : [["where these go", where, wasWhere] as const]),
    ...theirs.flatMap((field) => {
      const mine = typed[field.path];
      const shown = field.type === "secret" && field.set ? "a secret" : toTypedValue(field.value) || "not given";
      if (mine === undefined) return [];
      return [
        [
          field.path,
          shown,
          field.type === "secret" && mine !== null ? "another secret" : (mine ?? "not given"),
        ] as const,
      ];
    }),
  ];
  const actions = (
    <>
      {isChanged && <Button onClick={() => setTyped({})}>Go back</Button>}
      {removable.map(({ path }) => (
        <Button
          key={path}
          onClick={() => {
            touch();
            setTyped({ ...typed, [path]: null });
          }}
        >
          Take {plain(path)} away
        </Button>
      ))}
    </>
  );
  return (
    <RevisedForm {...{ change, given: typed, isChanged, rows, renew, actions }}>
      {fields.map((field) => (
        <ValueField
          key={field.path}
          facts={{
            ...field,
            isLocked: !isAllowed || !field.editable,
            note: <Standing field={field} whose={whose} isLeaving={typed[field.path] === null && field.set} />,
          }}
          value={typed[field.path] === undefined ? toTypedValue(field.value) : (typed[field.path] ?? "")}
          onChange={(text) => type(field, text)}
        />
      ))}
    </RevisedForm>
  );
}

async function readValues({ team, installation, whose }: Pick<ValuesFormProps, "team" | "installation" | "whose">) {
  const params = { path: { team, installation } };
  return await revisedOf(
    whose === "team"
      ? api.GET("/api/teams/{team}/installations/{installation}/config/team", { params })
      : api.GET("/api/teams/{team}/installations/{installation}/config/me", { params }),
  );
}

interface StandingProps {
  readonly field: Field;
  readonly whose: "team" | "me";
  /** Whether somebody has taken it away, and has not saved yet. */
  readonly isLeaving: boolean;
}

/** Whether it is set, and who else may give it. */
function Standing({ field, whose, isLeaving }: StandingProps) {
  const { set, type, tier, required, editable, updatedAt } = field;
  if (isLeaving) return <strong>It is removed when you save.</strong>;
  if (!editable) return <>Set by someone else.</>;
  if (whose === "team" && tier === "user" && required && !set) return <>Each member has to give their own.</>;
  if (type !== "secret") return set ? <>Set here.</> : <>Not given here.</>;
  return set ? <>Set {updatedAt === null ? "" : ago(updatedAt)}, and never shown.</> : <>Not set.</>;
}
