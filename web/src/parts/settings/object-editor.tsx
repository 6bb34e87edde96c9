import { lazy, Suspense, useState, type ReactNode } from "react";
import { hasInexactNumber } from "../../words/text/exact-json.ts";
import { plain } from "../../words/format.ts";
import { Button } from "../basic/button.tsx";
import { Section } from "../page.tsx";
import { Segments } from "../basic/segments.tsx";
import { Skeleton } from "../basic/states.tsx";

const ToolForm = lazy(async () => ({ default: (await import("../tools/tool-form.tsx")).ToolForm }));
const JsonEditor = lazy(async () => ({ default: (await import("./json-editor.tsx")).JsonEditor }));

interface ObjectEditorProps {
  readonly title: string;
  readonly schema: Readonly<Record<string, unknown>>;
  /** The object as JSON, as it is sent: its numbers stay as they were written. */
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly submit: string;
  readonly isBusy: boolean;
  /** Called by its button, or by Enter in the form; in the form only when everything fits the schema. */
  readonly onSubmit: () => void;
  /** More buttons beside that one. */
  readonly children?: ReactNode;
}

type Values = Readonly<Record<string, unknown>>;

/** A JSON object that a schema describes, written with a form or as JSON. */
export function ObjectEditor(props: ObjectEditorProps) {
  const { title, schema, text, onText, submit, isBusy, onSubmit, children } = props;
  const [view, setView] = useState<string>("form");
  const values = toObject(text);
  const isInexact = hasInexactNumber(text);
  const isForm = view === "form" && values !== undefined && !isInexact;
  const buttons = (
    <div className="actions">
      <Button
        look="main"
        type={isForm ? "submit" : "button"}
        isBusy={isBusy}
        onClick={isForm ? undefined : () => onSubmit()}
      >
        {submit}
      </Button>
      {children}
    </div>
  );
  return (
    <Section
      title={title}
      actions={
        <Segments
          label={`How ${title.toLowerCase()} are written`}
          tabs={[
            ["form", "Form"],
            ["json", "JSON"],
          ]}
          chosen={isForm ? "form" : "json"}
          onChoose={setView}
        />
      }
    >
      {isInexact && <p className="note warn">A number here is longer than a form can hold: it is edited as JSON.</p>}
      {values === undefined && view === "form" && (
        <p className="note warn">This is not a JSON object: correct it here first.</p>
      )}
      <Suspense fallback={<Skeleton />}>
        {isForm ? (
          <ToolForm
            schema={schema}
            value={values}
            onChange={(next: Values) => onText(JSON.stringify(next, undefined, 2))}
            onSubmit={onSubmit}
          >
            {buttons}
          </ToolForm>
        ) : (
          <>
            <JsonEditor label={`${title} as JSON`} value={text} onChange={onText} />
            {buttons}
          </>
        )}
      </Suspense>
      <details>
        <summary>Schema</summary>
        <pre tabIndex={0} className="wrap">
          {plain(JSON.stringify(schema, undefined, 2))}
        </pre>
      </details>
    </Section>
  );
}

function toObject(text: string): Values | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Values) : undefined;
  } catch {
    return undefined;
  }
}
