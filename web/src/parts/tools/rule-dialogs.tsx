import type { ReactNode } from "react";
import { api, valueOf, type Schemas } from "../../api/client.ts";
import { configUndo } from "../../api/config-undo.ts";
import { useOrder } from "../../api/queries.ts";
import { count, counted, plain } from "../../words/format.ts";
import { Button } from "../basic/button.tsx";
import { Modal } from "../forms/confirm.tsx";
import { Conflict, useRevisedChange } from "../forms/conflict.tsx";
import { FailureNote } from "../basic/states.tsx";

type Rule = Schemas["ToolRule"];
type Given = Pick<Rule, "access" | "asks" | "name" | "description" | "phrases">;

/** Several tools that are to be hidden, or shown again. */
export interface RulesOrder {
  readonly title: string;
  readonly access: Rule["access"];
  readonly tools: readonly string[];
}

/** One tool with another rule in place of the one that was read. */
export interface RuleOrder {
  readonly title: string;
  readonly path: string;
  readonly rule: Rule;
  readonly next: Given;
}

/** What a change of rules may change. */
const touched = [["config"], ["tools"], ["status"]];
/** More would go unread. */
const mostShown = 50;

interface DialogProps<Order> {
  readonly order: Order;
  readonly onClose: (isSaved: boolean) => void;
}

/** Shows which tools are meant, and then hides them, or shows them again. */
export function RulesDialog({ order: { title, access, tools }, onClose }: DialogProps<RulesOrder>) {
  const save = useOrder(
    async () => {
      const rules = Object.fromEntries(tools.map((path) => [path, { access }]));
      return await valueOf(api.PATCH("/api/tool-rules", { body: { rules } }));
    },
    {
      changes: touched,
      onDone: () => onClose(true),
      said: () => ({
        text: `${counted(tools.length, "tool")} ${access === "deny" ? "hidden from models" : "shown again"}.`,
        undo: configUndo(),
      }),
    },
  );
  const [before, after] = access === "deny" ? ["shown", "hidden"] : ["hidden", "shown"];
  return (
    <SaveDialog title={title} isBusy={save.isPending} onSave={() => save.mutate()} onClose={() => onClose(false)}>
      <Changes rows={tools.slice(0, mostShown).map((path) => [path, before, after] as const)} />
      {tools.length > mostShown && <p className="muted">and {count(tools.length - mostShown)} more</p>}
      {save.error !== null && <FailureNote error={save.error} />}
    </SaveDialog>
  );
}

/** Shows what becomes of one rule, and sets it unless it was changed elsewhere. */
export function RuleDialog({ order: { title, path, rule, next }, onClose }: DialogProps<RuleOrder>) {
  const params = { path: { path } };
  const change = useRevisedChange({
    base: { value: rule, etag: rule.etag },
    async read() {
      const now = await valueOf(api.GET("/api/tools/{path}/rule", { params }));
      return { value: now, etag: now.etag };
    },
    async write(given: Given, etag) {
      const header = { "If-Match": etag };
      // Nothing left of it: that is how a rule is taken out.
      if (Object.values(given).every((value) => value === null))
        return await valueOf(api.DELETE("/api/tools/{path}/rule", { params: { ...params, header } }));
      return await valueOf(api.PUT("/api/tools/{path}/rule", { params: { ...params, header }, body: given }));
    },
    changes: touched,
    onDone: () => onClose(true),
    said: () => ({ text: `The rule of ${path} is saved.`, undo: configUndo() }),
  });
  const { theirs } = change;
  return (
    <SaveDialog
      title={title}
      isBusy={change.isPending || theirs !== undefined}
      onSave={() => change.mutate(next)}
      onClose={() => onClose(false)}
    >
      <Changes rows={differences(rule, next).map(([what, before, after]) => [`${path} ${what}`, before, after])} />
      <Conflict
        error={change.error}
        rows={theirs === undefined ? undefined : differences(theirs, next)}
        isBusy={change.isPending}
        onKeep={() => change.mutate(next)}
        onTake={() => onClose(true)}
      />
    </SaveDialog>
  );
}

interface SaveDialogProps {
  readonly title: string;
  readonly isBusy: boolean;
  readonly onSave: () => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

function SaveDialog({ title, isBusy, onSave, onClose, children }: SaveDialogProps) {
  return (
    <Modal
      title={title}
      isOpen
      onClose={onClose}
      actions={
        <Button look="main" isBusy={isBusy} onClick={onSave}>
          Save
        </Button>
      }
    >
      {children}
    </Modal>
  );
}

type Row = readonly [what: string, before: string, after: string];

const members = ["access", "asks", "name", "description", "phrases"] as const;

/** What differs between two rules, in words. */
function differences(before: Given, after: Given): readonly Row[] {
  return members
    .map((member) => [words[member], inWords(before[member], member), inWords(after[member], member)] as const)
    .filter(([, one, other]) => one !== other);
}

const words = { access: "access", asks: "asks first", name: "name", description: "description", phrases: "phrases" };

function inWords(value: string | readonly string[] | null, member: (typeof members)[number]): string {
  if (value === null) return member === "asks" ? "as its effect says" : "its own";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function Changes({ rows }: { readonly rows: readonly Row[] }) {
  return (
    <>
      {rows.map(([what, before, after]) => (
        <div key={what}>
          <code>{plain(what)}</code>
          <pre tabIndex={0} className="wrap">
            {plain(before)} → {plain(after)}
          </pre>
        </div>
      ))}
    </>
  );
}
