import { useQuery, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useEffect, useMemo, useState, type ReactNode } from "react";
import { api, valueOf, type Schemas } from "../../api/client.ts";
import { toFailure } from "../../api/failure.ts";
import { queries, useOrder } from "../../api/queries.ts";
import { Button } from "../basic/button.tsx";
import { ConfigCheck } from "./config-check.tsx";
import { useConfigText, type ConfigText } from "./config-text.ts";
import type { TextProblem } from "./json-editor.tsx";
import { Section } from "../page.tsx";
import { useRested } from "../basic/rested.ts";
import { Segments } from "../basic/segments.tsx";
import { FailureNote, Skeleton } from "../basic/states.tsx";

const JsonEditor = lazy(async () => ({ default: (await import("./json-editor.tsx")).JsonEditor }));

interface ConfigEditorProps {
  readonly file: Schemas["ConfigFile"];
  /** What the form changes, and what its other view is called. */
  readonly form: (edited: ConfigText, saved: string, onTyping: (isTyping: boolean) => void) => ReactNode;
  readonly textTab: string;
  readonly text: (edited: ConfigText, problems: readonly TextProblem[]) => ReactNode;
}

/**
 * The configuration file as it is edited, with a form or as text: checked before it is saved, and compared with the
 * file and with what runs. Somebody else's change is never overwritten without being shown.
 */
export function ConfigEditor({ file, form, textTab, text: textView }: ConfigEditorProps) {
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
  // Typed text is not lost when the file is changed elsewhere.
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
              ["text", textTab],
            ]}
            chosen={view}
            onChoose={setView}
          />
        </div>
        {view === "form" ? form(edited, base.text, setTyping) : textView(edited, problems)}
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
                ? "Not saved yet. What changes in the file is shown below."
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
        <ConfigCheck check={check.data} error={check.error} />
        {isChanged && conflict === undefined && (
          <Section title="Changes of the file">
            {/* Loading its data must not remove the form, and the focus with it. */}
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
