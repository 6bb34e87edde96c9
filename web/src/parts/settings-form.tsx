import { useQuery } from "@tanstack/react-query";
import { useMemo, useRef, useState } from "react";
import { api, valueOf, type Schemas } from "../api/client.ts";
import { queries } from "../api/queries.ts";
import { counted, plain } from "../words/format.ts";
import { toSettingGroups, type SettingField, type SettingGroup } from "../words/setting-fields.ts";
import { Button } from "./button.tsx";
import { CheckField, SelectField, TextField } from "./field.tsx";
import { Empty, FailureNote, Loaded } from "./states.tsx";

type Standing = Schemas["SettingList"]["settings"][number];
/** What was changed with the form and is not saved yet, by path. Undefined: taken out of the file. */
type Drafts = Readonly<Record<string, { readonly value: unknown }>>;

interface SettingsFormProps {
  /** The text of the file, as it would be saved. */
  readonly text: string;
  readonly onText: (text: string) => void;
  /** Whether the text differs from the file, also by what was typed there. */
  readonly isChanged: boolean;
}

/**
 * Every setting with its value in force and where that comes from. A change is made in the text, where comments and
 * layout stay, and saved with it.
 */
export function SettingsForm({ text, onText, isChanged }: SettingsFormProps) {
  const schema = useQuery(queries.configSchema);
  const settings = useQuery(queries.settings);
  const [match, setMatch] = useState("");
  const [drafts, setDrafts] = useState<Drafts>({});
  const [failure, setFailure] = useState<unknown>(null);
  const groups = useMemo(() => (schema.data === undefined ? [] : toSettingGroups(schema.data)), [schema.data]);
  const latest = useRef(text);
  latest.current = text;
  const work = useRef<Promise<void>>(Promise.resolve());
  const shown = isChanged ? drafts : {};

  /** One change after the other, each in the text that the one before left. */
  function change(path: string, value: unknown): void {
    setDrafts({ ...shown, [path]: { value } });
    work.current = work.current.then(async () => {
      try {
        const changes = [{ path: path.split("."), ...(value === undefined ? {} : { value }) }];
        const answer = await valueOf(api.POST("/api/config/edit", { body: { text: latest.current, changes } }));
        latest.current = answer.text;
        onText(answer.text);
        setFailure(null);
      } catch (error) {
        setFailure(error);
      }
    });
  }

  return (
    <>
      <div className="filters">
        <div className="field grow">
          <label htmlFor="setting-match">Containing</label>
          <input id="setting-match" type="search" value={match} onChange={({ target }) => setMatch(target.value)} />
        </div>
      </div>
      {failure !== null && <FailureNote error={failure} />}
      <Loaded query={schema} lines={8}>
        {() => (
          <Loaded query={settings} lines={8}>
            {({ settings: standings }) => {
              const byPath = new Map(standings.map((one) => [one.path, one]));
              const found = groups.flatMap((group) => fitting(group, match));
              if (found.length === 0) return <Empty title="No setting contains that" />;
              return found.map((group) => (
                <Group
                  key={group.name}
                  group={group}
                  isOpen={match !== "" || group.name === ""}
                  byPath={byPath}
                  drafts={shown}
                  onChange={change}
                />
              ));
            }}
          </Loaded>
        )}
      </Loaded>
    </>
  );
}

function fitting(group: SettingGroup, match: string): readonly SettingGroup[] {
  const words = match.toLowerCase().split(/\s+/);
  const fields = group.fields.filter(({ path, about }) =>
    words.every((word) => `${path} ${about}`.toLowerCase().includes(word)),
  );
  return fields.length === 0 ? [] : [{ ...group, fields }];
}

interface GroupProps {
  readonly group: SettingGroup;
  readonly isOpen: boolean;
  readonly byPath: ReadonlyMap<string, Standing>;
  readonly drafts: Drafts;
  readonly onChange: (path: string, value: unknown) => void;
}

function Group({ group, isOpen, byPath, drafts, onChange }: GroupProps) {
  const { name, about, fields } = group;
  const own = fields.filter(({ path }) => byPath.get(path)?.from === "file" || drafts[path] !== undefined).length;
  return (
    <details className="section settings-group" open={isOpen}>
      <summary>
        <strong>{name === "" ? "General" : name}</strong>{" "}
        <span className="muted">
          {about} {counted(fields.length, "setting")}
          {own > 0 && `, ${own} in the file`}
        </span>
      </summary>
      <div className="stack">
        {fields.map((field) => (
          <Setting
            key={field.path}
            field={field}
            standing={byPath.get(field.path)}
            draft={drafts[field.path]}
            onChange={(value) => onChange(field.path, value)}
          />
        ))}
      </div>
    </details>
  );
}

interface SettingProps {
  readonly field: SettingField;
  readonly standing: Standing | undefined;
  readonly draft: { readonly value: unknown } | undefined;
  readonly onChange: (value: unknown) => void;
}

function Setting({ field, standing, draft, onChange }: SettingProps) {
  const value = draft === undefined ? standing?.value : draft.value;
  const why = whyNot(field, standing);
  return (
    <div className="setting">
      <Input key={JSON.stringify(value)} field={field} value={value} isFixed={why !== undefined} onChange={onChange} />
      <p className="muted">
        {field.about} <Origin standing={standing} isChanged={draft !== undefined} />
        {why !== undefined && <> {why}</>}
      </p>
      {why === undefined && (draft === undefined ? standing?.from === "file" : draft.value !== undefined) && (
        <Button look="plain" onClick={() => onChange(undefined)}>
          Take {field.name} out of the file
        </Button>
      )}
    </div>
  );
}

/** Why the form cannot change it. */
function whyNot({ kind }: SettingField, standing: Standing | undefined): string | undefined {
  if (standing?.from === "given")
    return `It was given by ${standing.origin} at the start, which goes before the file: change it there.`;
  if (kind === "other") return "It is more than a single value: change it in the text.";
  return String(JSON.stringify(standing?.value)).includes("(hidden)")
    ? "It is secret: change it in the text, best as the name of a variable."
    : undefined;
}

function Origin({ standing, isChanged }: { readonly standing: Standing | undefined; readonly isChanged: boolean }) {
  if (!isChanged && standing != null && standing.runsWith != null)
    return (
      <strong>
        {standing.from === "file" ? "From the file." : "The default."} The gateway runs with{" "}
        {plain(JSON.stringify(standing.runsWith))} until it is started again.
      </strong>
    );
  if (isChanged) return <strong>Changed, not saved yet.</strong>;
  if (standing === undefined || standing.from === "default") return <>In force: the default.</>;
  if (standing.from === "given") return null;
  const [, line] = /:(\d+):\d+$/.exec(standing.origin) ?? [];
  return <>In force: from the file{line === undefined ? "" : `, line ${line}`}.</>;
}

interface InputProps {
  readonly field: SettingField;
  readonly value: unknown;
  readonly isFixed: boolean;
  readonly onChange: (value: unknown) => void;
}

/** What is typed is taken when the field is left, or with Enter. */
function Input({ field, value, isFixed, onChange }: InputProps) {
  const { name, kind, choices, min, max } = field;
  const [typed, setTyped] = useState(() => toText(value));
  const [wrong, setWrong] = useState<string>();
  if (kind === "boolean")
    return (
      <CheckField
        label={name}
        checked={value === true}
        disabled={isFixed}
        onChange={({ target }) => onChange(target.checked)}
      />
    );
  if (kind === "choice")
    return (
      <SelectField
        label={name}
        choices={choices.map((choice) => [choice, choice] as const)}
        value={toText(value)}
        disabled={isFixed}
        onChange={({ target }) => onChange(target.value)}
      />
    );
  const commit = (): void => {
    if (typed === toText(value)) return;
    const read = fromText(kind, typed);
    if (read === undefined) setWrong("A whole number is needed.");
    else {
      setWrong(undefined);
      onChange(read);
    }
  };
  return (
    <TextField
      label={kind === "list" ? `${name} (with commas between them)` : name}
      {...(wrong === undefined ? {} : { hint: <span className="bad-text">{wrong}</span>, "aria-invalid": true })}
      inputMode={kind === "number" ? "numeric" : "text"}
      {...(kind === "number" ? { placeholder: `${min ?? ""} to ${max ?? ""}` } : {})}
      disabled={isFixed}
      value={plain(typed)}
      onChange={({ target }) => setTyped(target.value)}
      onBlur={commit}
      onKeyDown={({ key }) => void (key === "Enter" && commit())}
    />
  );
}

function toText(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.every((one) => typeof one === "string")) return value.join(", ");
  return JSON.stringify(value);
}

/** Undefined for what is no value of this kind. Variables (`${NAME}`) stand for any. */
function fromText(kind: SettingField["kind"], text: string): unknown {
  const trimmed = text.trim();
  if (kind === "list") return trimmed === "" ? [] : trimmed.split(",").map((one) => one.trim());
  if (kind !== "number" || trimmed.includes("${")) return trimmed;
  return /^-?\d+$/.test(trimmed) ? Number(trimmed) : undefined;
}
