import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { queries } from "../../api/queries.ts";
import { entryValues } from "../../words/text/entry-text.ts";
import { plain } from "../../words/format.ts";
import { toEntryFields, type SettingField } from "../../words/settings/setting-fields.ts";
import { Button } from "../basic/button.tsx";
import type { ConfigText } from "../settings/config-text.ts";
import { SelectField } from "../forms/field.tsx";
import { SettingInput } from "../settings/setting-input.tsx";
import { FailureNote, Loaded } from "../basic/states.tsx";

interface EntryFormProps {
  readonly edited: ConfigText;
  readonly path: readonly string[];
  readonly onTyping: (isTyping: boolean) => void;
}

type Values = Readonly<Record<string, unknown>>;

/** What the entry of a server has, one field after the other, and what it could have. Comments stay. */
export function EntryForm({ edited, path, onTyping }: EntryFormProps) {
  const schema = useQuery(queries.configSchema);
  const [added, setAdded] = useState<readonly string[]>([]);
  const { text, pending, failure, change } = edited;
  const written = entryValues(text, path);
  if (written === undefined) return <p className="note warn">This text is no JSON: correct it there first.</p>;
  const values = withPending(written, path, pending);
  return (
    <>
      {failure !== null && <FailureNote error={failure} />}
      <Loaded query={schema} lines={6}>
        {(found) => {
          const fields = toEntryFields(found);
          const shown = fields.filter(({ name }) => values[name] !== undefined || added.includes(name));
          return (
            <div className="stack">
              {shown.map((field) => (
                <EntryField
                  key={field.name}
                  field={field}
                  value={values[field.name]}
                  onTyping={onTyping}
                  onChange={(value) => {
                    if (value === undefined) setAdded(added.filter((name) => name !== field.name));
                    change([...path, field.name], value);
                  }}
                />
              ))}
              <MoreFields
                fields={fields.filter((field) => !shown.includes(field) && suits(field.name, values))}
                onAdd={(name) => setAdded([...added, name])}
              />
            </div>
          );
        }}
      </Loaded>
    </>
  );
}

/** What the gateway is still writing into the text counts as written. */
function withPending(written: Values, path: readonly string[], pending: ConfigText["pending"]): Values {
  const begin = `${path.join(".")}.`;
  const given = Object.entries(pending).filter(([key]) => key.startsWith(begin));
  return { ...written, ...Object.fromEntries(given.map(([key, { value }]) => [key.slice(begin.length), value])) };
}

const ofPrograms = ["command", "args", "env", "envFile", "cwd", "startTimeoutMs", "idleTimeoutMs", "roots"];
const ofAddresses = ["url", "headers", "proxy", "tls"];
/** Spellings of other clients, of which ours does the same. */
const others = /^(transport|serverUrl|httpUrl|disabled|settings|(en|dis)abled_?[tT]ools|(in|ex)cludeTools)$/;

function suits(name: string, { command }: Values): boolean {
  return !(command === undefined ? ofPrograms : ofAddresses).includes(name) && !others.test(name);
}

interface EntryFieldProps {
  readonly field: SettingField;
  readonly value: unknown;
  readonly onTyping: (isTyping: boolean) => void;
  readonly onChange: (value: unknown) => void;
}

function EntryField({ field, value, onTyping, onChange }: EntryFieldProps) {
  const isFit = fits(field, value);
  return (
    <div className="setting">
      <SettingInput
        field={isFit ? field : { ...field, kind: "other" }}
        value={value}
        isFixed={!isFit}
        onTyping={onTyping}
        onChange={onChange}
      />
      <p className="muted">
        {field.about}
        {!isFit && " It is more than the form can hold: change it as JSON."}
      </p>
      <Button look="plain" onClick={() => onChange(undefined)}>
        Take {field.name} out
      </Button>
    </div>
  );
}

/** Whether the field can show the value and give the same one back. */
function fits({ kind }: SettingField, value: unknown): boolean {
  if (value === undefined) return kind !== "other";
  const isText = (one: unknown): boolean => typeof one === "string" && plain(one) === one && !one.includes("\n");
  switch (kind) {
    case "lines":
      return Array.isArray(value) && value.every((one) => isText(one) && one !== "");
    case "pairs":
      return typeof value === "object" && value !== null && Object.entries(value).flat().every(isText);
    case "number":
      return Number.isSafeInteger(value) || isText(value);
    case "boolean":
      return typeof value === "boolean";
    case "other":
      return false;
    default:
      return isText(value);
  }
}

function MoreFields({
  fields,
  onAdd,
}: {
  readonly fields: readonly SettingField[];
  readonly onAdd: (name: string) => void;
}) {
  const [chosen, setChosen] = useState("");
  const field = fields.find(({ name }) => name === chosen);
  if (fields.length === 0) return null;
  return (
    <div className="filters">
      <SelectField
        label="Another field"
        hint={field?.about ?? ""}
        choices={[
          ["", "Choose one"],
          ...fields.map(({ name, kind }) => [name, kind === "other" ? `${name} (as JSON)` : name] as const),
        ]}
        value={field?.name ?? ""}
        onChange={({ target }) => setChosen(target.value)}
      />
      <Button
        isBusy={field === undefined || field.kind === "other"}
        onClick={() => {
          if (field === undefined) return;
          onAdd(field.name);
          setChosen("");
        }}
      >
        Add it
      </Button>
    </div>
  );
}
