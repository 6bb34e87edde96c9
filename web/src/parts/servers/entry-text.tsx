import { lazy, useState } from "react";
import { entryTextOf, placeInEntry, withEntryText } from "../../words/text/entry-text.ts";
import { lineBreakOf, withLineBreak } from "../../words/text/line-breaks.ts";
import type { ConfigText } from "../settings/config-text.ts";
import type { TextProblem } from "../settings/json-editor.tsx";

const JsonEditor = lazy(async () => ({ default: (await import("../settings/json-editor.tsx")).JsonEditor }));

interface EntryTextEditorProps {
  readonly edited: ConfigText;
  readonly path: readonly string[];
  /** Of the whole text. */
  readonly problems: readonly TextProblem[];
}

/** An entry alone as text, with its comments; edits go into its place in the whole. */
export function EntryTextEditor({ edited, path, problems }: EntryTextEditorProps) {
  const { text, setText } = edited;
  const [entry, setEntry] = useState(() => entryTextOf(text, path));
  // Changed elsewhere, as by going back to the file. Text being typed need not be JSON yet.
  if (entry !== undefined && entry.whole !== text) setEntry(entryTextOf(text, path));
  if (entry === undefined) return <p className="note warn">Its entry is no longer in the text.</p>;
  const own = problems.flatMap(({ line, column, ...rest }) => {
    const place = placeInEntry(entry, { line, column });
    return place === undefined ? [] : [{ ...rest, ...place }];
  });
  return (
    <JsonEditor
      label="Entry"
      value={entry.own}
      onChange={(typed) => {
        // An entry on one line has no line break of its own.
        const next = withLineBreak(typed, lineBreakOf(entry.whole));
        const whole = withEntryText(entry, next);
        setEntry({ ...entry, whole, own: next });
        setText(whole);
      }}
      problems={own}
    />
  );
}
