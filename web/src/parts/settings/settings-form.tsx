import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { Schemas } from "../../api/client.ts";
import { queries } from "../../api/queries.ts";
import { counted, plain } from "../../words/format.ts";
import { settingDrafts, type Drafts } from "../../words/settings/setting-drafts.ts";
import { toSettingGroups, type SettingField, type SettingGroup } from "../../words/settings/setting-fields.ts";
import { Button } from "../basic/button.tsx";
import type { ConfigText } from "./config-text.ts";
import { SettingInput } from "./setting-input.tsx";
import { Empty, FailureNote, Loaded } from "../basic/states.tsx";

type Standing = Schemas["SettingList"]["settings"][number];

interface SettingsFormProps {
  /** The text of the file, as it would be saved. */
  readonly edited: ConfigText;
  /** The text of the file, as it was opened. */
  readonly saved: string;
  /** Whether a field has text that is not taken yet, because it still has the focus. */
  readonly onTyping: (isTyping: boolean) => void;
}

/**
 * Every setting with its value in force and where that comes from. A change is made in the text, where comments and
 * layout stay, and saved with it.
 */
export function SettingsForm({ edited, saved, onTyping }: SettingsFormProps) {
  const schema = useQuery(queries.configSchema);
  const settings = useQuery(queries.settings);
  const [match, setMatch] = useState("");
  const groups = useMemo(() => (schema.data === undefined ? [] : toSettingGroups(schema.data)), [schema.data]);
  const { text, pending, failure, change } = edited;
  const written = useMemo(() => {
    const paths = groups.flatMap(({ fields }) => fields.map(({ path }) => path));
    return settingDrafts(saved, text, paths);
  }, [groups, saved, text]);
  const drafts = { ...written, ...pending };

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
                  drafts={drafts}
                  onTyping={onTyping}
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
  readonly onTyping: (isTyping: boolean) => void;
  readonly onChange: (path: readonly string[], value: unknown) => void;
}

function Group({ group, isOpen, byPath, drafts, onTyping, onChange }: GroupProps) {
  const { name, about, fields } = group;
  const own = fields.filter(({ path }) => isInFile(byPath.get(path), drafts[path])).length;
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
            onTyping={onTyping}
            onChange={(value) => onChange(field.path.split("."), value)}
          />
        ))}
      </div>
    </details>
  );
}

function isInFile(standing: Standing | undefined, draft: { readonly value: unknown } | undefined): boolean {
  return draft === undefined ? standing?.from === "file" : draft.value !== undefined;
}

interface SettingProps {
  readonly field: SettingField;
  readonly standing: Standing | undefined;
  readonly draft: { readonly value: unknown } | undefined;
  readonly onTyping: (isTyping: boolean) => void;
  readonly onChange: (value: unknown) => void;
}

function Setting({ field, standing, draft, onTyping, onChange }: SettingProps) {
  const value = draft === undefined || isHidden(standing) ? standing?.value : draft.value;
  const why = whyNot(field, standing);
  return (
    <div className="setting">
      <SettingInput field={field} value={value} isFixed={why !== undefined} onTyping={onTyping} onChange={onChange} />
      <p className="muted">
        {field.about} <Origin standing={standing} isChanged={draft !== undefined} />
        {why !== undefined && <> {why}</>}
      </p>
      {why === undefined && isInFile(standing, draft) && (
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
  return isHidden(standing) ? "It is secret: change it in the text, best as the name of a variable." : undefined;
}

function isHidden(standing: Standing | undefined): boolean {
  return String(JSON.stringify(standing?.value)).includes("(hidden)");
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
