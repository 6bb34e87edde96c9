import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { HighlightStyle, bracketMatching, foldGutter, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { unifiedMergeView } from "@codemirror/merge";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { Annotation, EditorState, type Extension } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef } from "react";
import { lineBreakOf, withLineBreak } from "../../words/text/line-breaks.ts";

export interface TextProblem {
  /** From 1. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly isWarning: boolean;
}

export interface JsonEditorProps {
  readonly label: string;
  readonly value: string;
  readonly onChange?: (text: string) => void;
  /** Shows what differs from this text, and takes no input. */
  readonly compareWith?: string;
  readonly problems?: readonly TextProblem[];
}

const colors = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--code-name)" },
  { tag: tags.string, color: "var(--code-text)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--code-value)" },
  { tag: tags.comment, color: "var(--muted)" },
]);

const look = EditorView.theme({
  "&": {
    color: "var(--text)",
    backgroundColor: "var(--surface)",
    fontSize: "12.5px",
    maxHeight: "60vh",
    border: "1px solid var(--line-strong)",
    borderRadius: "6px",
  },
  "&.cm-focused": { outline: "2px solid var(--accent)" },
  ".cm-scroller": { fontFamily: "var(--mono)", overflow: "auto" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--bg)", color: "var(--muted)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--accent) 7%, transparent)" },
  ".cm-selectionBackground, &.cm-focused .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--accent) 25%, transparent) !important",
  },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-tooltip, .cm-panels": {
    backgroundColor: "var(--surface)",
    color: "var(--text)",
    border: "1px solid var(--line-strong)",
  },
  ".cm-insertedLine, .cm-changedLine": { backgroundColor: "color-mix(in srgb, var(--ok) 8%, transparent) !important" },
  ".cm-deletedText, .cm-changedText, .cm-insertedLine .cm-changedText": {
    background: "none !important",
    textDecoration: "underline",
  },
  ".cm-deletedText": { textDecoration: "line-through" },
  ".cm-deletedChunk span, .cm-deletedLine, .cm-deletedLine span": { color: "var(--text) !important" },
  ".cm-deletedChunk": { backgroundColor: "color-mix(in srgb, var(--bad) 8%, transparent) !important" },
});

/**
 * A text editor for JSON. It is in a shadow root, because its styles are made while it runs: there they are adopted
 * sheets, which the policy of the page lets pass.
 */
export function JsonEditor({ label, value, onChange, compareWith, problems = none }: JsonEditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const change = useRef(onChange);
  change.current = onChange;
  /** Of the text as it was given: the editor itself knows one kind only. */
  const lineBreak = useRef(lineBreakOf(value));

  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const shadow = element.shadowRoot ?? element.attachShadow({ mode: "open" });
    const isEdited = change.current !== undefined && compareWith === undefined;
    const extensions: Extension[] = [
      lineNumbers(),
      foldGutter(),
      drawSelection(),
      bracketMatching(),
      highlightSelectionMatches(),
      json(),
      look,
      syntaxHighlighting(colors),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ "aria-label": label }),
      // Tab moves on, as everywhere; Escape and then Tab leaves the editor also where it indents.
      keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap]),
      ...(isEdited
        ? [
            history(),
            indentOnInput(),
            highlightActiveLine(),
            lintGutter(),
            keymap.of([{ ...indentWithTab, key: "Mod-]" }]),
          ]
        : [EditorState.readOnly.of(true)]),
      ...(compareWith === undefined
        ? []
        : [unifiedMergeView({ original: compareWith, mergeControls: false, collapseUnchanged: { margin: 3 } })]),
      EditorView.updateListener.of((update) => {
        if (!update.docChanged || update.transactions.some((one) => one.annotation(isGiven) === true)) return;
        change.current?.(withLineBreak(update.state.doc.toString(), lineBreak.current));
      }),
    ];
    const editor = new EditorView({
      parent: shadow,
      root: shadow,
      state: EditorState.create({ doc: value, extensions }),
    });
    // It may be longer than its place, and is then scrolled with keys, too.
    editor.scrollDOM.tabIndex = 0;
    view.current = editor;
    return () => {
      view.current = undefined;
      editor.destroy();
    };
    // Made once for each pair of texts; typed text comes back as `value` and must not make another.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [label, compareWith]);

  useEffect(() => {
    const editor = view.current;
    if (editor === undefined || editor.state.doc.toString() === withLineBreak(value, "\n")) return;
    lineBreak.current = lineBreakOf(value);
    const all = { from: 0, to: editor.state.doc.length, insert: value };
    editor.dispatch({ changes: all, annotations: isGiven.of(true) });
  }, [value]);

  useEffect(() => {
    const editor = view.current;
    if (editor === undefined) return;
    const { doc } = editor.state;
    const marks = problems.map(({ line, column, message, isWarning }) => {
      const row = doc.line(Math.min(Math.max(1, line), doc.lines));
      const from = Math.min(row.to, row.from + Math.max(0, column - 1));
      return { from, to: row.to, message, severity: isWarning ? ("warning" as const) : ("error" as const) };
    });
    editor.dispatch(setDiagnostics(editor.state, marks));
  }, [problems]);

  return <div ref={place} className="json-editor" />;
}

/** Marks a text that was given and not typed. */
const isGiven = Annotation.define<boolean>();

const none: readonly TextProblem[] = [];
