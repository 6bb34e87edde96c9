import { useQuery, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useEffect, useMemo, useState } from "react";
import { api, valueOf, type Schemas } from "../api/client.ts";
import { toFailure } from "../api/failure.ts";
import { queries, useOrder } from "../api/queries.ts";
import { useWho } from "../api/who.ts";
import { Button } from "../parts/button.tsx";
import { Page, Section } from "../parts/page.tsx";
import { Segments } from "../parts/segments.tsx";
import { useConfigText } from "../parts/config-text.ts";
import { useRested } from "../parts/rested.ts";
import { SettingsForm } from "../parts/settings-form.tsx";
import { Empty, FailureNote, Loaded, Skeleton } from "../parts/states.tsx";
import { count, counted, plain } from "../words/format.ts";

const JsonEditor = lazy(async () => ({ default: (await import("../parts/json-editor.tsx")).JsonEditor }));

/** The configuration file: with comments, checked before it is saved, and compared with what runs. */
export function Settings() {
  const { mayManage } = useWho();
  const config = useQuery({ ...queries.config, refetchOnWindowFocus: false, enabled: mayManage });
  if (!mayManage)
    return (
      <Page title="Settings">
        <Empty title="The configuration is for admins of the gateway">
          <p>Whoever runs this gateway can change it, or make you an admin.</p>
        </Empty>
      </Page>
    );
  return (
    <Page title="Settings" about={config.data && <code>{plain(config.data.file)}</code>}>
      <Loaded query={config} lines={8}>
        {(file) => <Editor file={file} />}
      </Loaded>
    </Page>
  );
}

type File = Schemas["ConfigFile"];

function Editor({ file }: { readonly file: File }) {
  const client = useQueryClient();
  // What was opened, which somebody else may have changed since.
  const [base, setBase] = useState(file);
  const edited = useConfigText(file.text);
  const { text, setText, settled } = edited;
  const [view, setView] = useState("form");
  const previous = useQuery(queries.previousConfig);
  const [isTyping, setTyping] = useState(false);
  const isEditing = isTyping || Object.keys(edited.pending).length > 0;
  const isChanged = text !== base.text || isEditing;
  // Nobody loses what they typed because the file was changed elsewhere.
  useEffect(() => {
    if (!isChanged && file.etag !== base.etag) {
      setBase(file);
      setText(file.text);
    }
  }, [file, base, isChanged, setText]);
  useEffect(() => {
    if (!isChanged) return undefined;
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, [isChanged]);
  const checked = useRested(text);
  const check = useQuery({
    queryKey: ["config", "check", checked],
    queryFn: async () => await valueOf(api.POST("/api/config/check", { body: { text: checked } })),
    gcTime: 60_000,
    placeholderData: (before) => before,
  });
  const save = useOrder(
    async () => {
      // A click on Save takes along what was typed in the field that it left.
      const whole = await settled();
      if (whole === base.text) return base;
      const params = { header: { "If-Match": base.etag } };
      return await valueOf(api.PUT("/api/config", { params, body: { text: whole } }));
    },
    {
      changes: [["status"], ["tools"], ["config", "previous"], ["config", "settings"]],
      onDone(saved) {
        setBase(saved);
        client.setQueryData(queries.config.queryKey, saved);
      },
    },
  );
  const problems = useMemo(
    () =>
      (check.data?.problems ?? []).flatMap(({ line, column, message, isWarning }) =>
        line === null ? [] : [{ line, column: column ?? 1, message, isWarning }],
      ),
    [check.data],
  );
  const conflict = conflictOf(save.error);
  /** Puts another text in its place, after what was begun: that would come back otherwise. */
  const replace = (next: string): void =>
    void settled().then(
      () => setText(next),
      () => setText(next),
    );
  return (
    <>
      <Suspense fallback={<Skeleton lines={10} />}>
        <div className="actions bar-actions">
          <Segments
            label="How the configuration is edited"
            tabs={[
              ["form", "Form"],
              ["text", "Text"],
            ]}
            chosen={view}
            onChoose={setView}
          />
        </div>
        {view === "form" ? (
          <SettingsForm edited={edited} saved={base.text} onTyping={setTyping} />
        ) : (
          <JsonEditor label="Configuration" value={text} onChange={setText} problems={problems} />
        )}
        <div className="actions save-bar">
          <Button
            look="main"
            isBusy={save.isPending || (!isEditing && (!isChanged || check.data?.isUsable === false))}
            onClick={() => save.mutate()}
          >
            Save
          </Button>
          <Button
            isBusy={!isChanged}
            onClick={() => {
              replace(base.text);
              save.reset();
            }}
          >
            Go back to the file
          </Button>
          <Undo previous={previous.data?.text ?? null} isBusy={isChanged || save.isPending} onUndo={replace} />
          <span role="status" className="muted">
            {save.isSuccess && !isChanged
              ? "Saved. The gateway applies it within a second."
              : isChanged
                ? "Not saved yet."
                : ""}
          </span>
        </div>
        {conflict === undefined ? (
          save.error !== null && save.error !== edited.failure && <FailureNote error={save.error} />
        ) : (
          <Section
            title="Somebody else has changed the file"
            about="Your text is still in the editor. Below is theirs, with what differs from yours."
          >
            <Suspense fallback={<Skeleton lines={10} />}>
              <JsonEditor label="Their text against yours" value={conflict.text} compareWith={text} />
            </Suspense>
            <div className="actions">
              <Button
                onClick={() => {
                  setBase({ ...base, ...conflict });
                  save.reset();
                }}
              >
                Keep mine, and save over theirs
              </Button>
              <Button
                onClick={() => {
                  setBase({ ...base, ...conflict });
                  replace(conflict.text);
                  save.reset();
                }}
              >
                Take theirs
              </Button>
            </div>
          </Section>
        )}
        <Check check={check.data} error={check.error} />
        {isChanged && conflict === undefined && (
          <Section title="Changes of the file">
            {/* What is loaded for it must not take the form away, and the focus with it. */}
            <Suspense fallback={<Skeleton lines={10} />}>
              <JsonEditor key={checked} label="Changes of the file" value={checked} compareWith={base.text} />
            </Suspense>
          </Section>
        )}
      </Suspense>
    </>
  );
}

interface UndoProps {
  readonly previous: string | null;
  readonly isBusy: boolean;
  readonly onUndo: (text: string) => void;
}

/** The file as it was before it was saved last: shown with what would change, and saved like any other text. */
function Undo({ previous, isBusy, onUndo }: UndoProps) {
  if (previous === null) return null;
  return (
    <Button isBusy={isBusy} onClick={() => onUndo(previous)}>
      Undo the last change
    </Button>
  );
}

/** The text that is in the file by now, where somebody else saved in between. */
function conflictOf(error: unknown): { readonly text: string; readonly etag: string } | undefined {
  if (error === null) return undefined;
  const { code, data } = toFailure(error);
  return code === "CONFIG_CHANGED"
    ? (data["current"] as { readonly text: string; readonly etag: string } | undefined)
    : undefined;
}

function Check({ check, error }: { readonly check: Schemas["ConfigCheck"] | undefined; readonly error: unknown }) {
  if (error !== null) return <FailureNote error={error} />;
  if (check === undefined) return <Skeleton />;
  const { problems, differences, isUsable } = check;
  return (
    <Section
      title="Check"
      about={
        isUsable
          ? problems.length === 0
            ? "no problem"
            : counted(problems.length, "warning")
          : "the gateway would refuse this text"
      }
    >
      <ul className="list" aria-label="Problems">
        {problems.map(({ line, column, message, isWarning }, at) => (
          <li key={at}>
            <span className={isWarning ? "muted" : "bad-text"}>{isWarning ? "warning" : "problem"}</span>
            {line !== null && (
              <span className="number">
                line {count(line)}, column {count(column ?? 1)}
              </span>
            )}
            <span className="grow">{plain(message)}</span>
          </li>
        ))}
      </ul>
      {differences.length === 0 ? (
        isUsable && <p className="muted">The gateway has this in force.</p>
      ) : (
        <table>
          <caption>What it changes of what runs</caption>
          <thead>
            <tr>
              <th scope="col">Setting</th>
              <th scope="col">In force</th>
              <th scope="col">Then</th>
              <th scope="col">When</th>
            </tr>
          </thead>
          <tbody>
            {differences.map(({ path, before, after, needsRestart }) => (
              <tr key={path}>
                <td>
                  <code>{plain(path)}</code>
                </td>
                <td>{plain(JSON.stringify(before) ?? "")}</td>
                <td>{plain(JSON.stringify(after) ?? "")}</td>
                <td>{needsRestart ? "after a restart of the gateway" : "at once"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Section>
  );
}
