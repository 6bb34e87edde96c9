import { useId, useState, type ReactNode } from "react";
import { useOrder } from "../../api/queries.ts";
import { Button } from "../basic/button.tsx";
import { Modal } from "./confirm.tsx";
import { CheckField, LinesField, SelectField, TextField } from "./field.tsx";
import { FailureNote } from "../basic/states.tsx";

/** The values of a form, and a change of some of them. */
export interface Typed<Values> {
  readonly values: Values;
  readonly set: (some: Partial<Values>) => void;
}

type Answering<Values, Answer> = Answer | ((values: Values) => Answer);

/** A field whose kind follows from its value: a text, one of several choices, or a tick. */
interface Field<Values> {
  readonly label: Answering<Values, string>;
  readonly hint?: Answering<Values, ReactNode>;
  /** How a text is typed. Default: on one line. */
  readonly kind?: "lines" | { readonly type: "number"; readonly min: number; readonly max?: number };
  readonly choices?: readonly (readonly [value: string, text: string])[];
  /** Whether the form waits for it. */
  readonly isNeeded?: boolean;
  /** Whether it is only shown. */
  readonly isFixed?: boolean;
}

/** A field of its own, or nothing where the form need not have it. */
type Control<Values> = (typed: Typed<Values>) => ReactNode;

/** In the order in which they are shown. */
export type Fields<Values> = { readonly [Name in keyof Values]: Field<Values> | Control<Values> };

interface OrderFormProps<Values extends object, Answer> {
  readonly title: string;
  /** The text of its button. */
  readonly submit: Answering<Values, string>;
  readonly start: Values;
  readonly fields: Fields<Values>;
  /** Orders it, with texts as they are typed, but for spaces around them. */
  readonly send: (values: Values) => Promise<Answer>;
  readonly changes?: readonly (readonly string[])[];
  /** Shown once the gateway has answered; without it, the dialog closes then. */
  readonly result?: (answer: Answer) => ReactNode;
  /** Whether an answer is a success. Default: every one. */
  readonly isDone?: (answer: Answer) => boolean;
  /** Another order after an answer that is none, with some values changed, and the text of its button. */
  readonly again?: (answer: Answer) => { readonly label: string; readonly values: Partial<Values> } | undefined;
  /** Whether enough was typed, beyond the fields that are needed. */
  readonly isReady?: (values: Values) => boolean;
  /** Below the fields. */
  readonly note?: (values: Values, isPending: boolean) => ReactNode;
  /** Default: yes. A closed form that stays mounted keeps the typed text until its order has succeeded. */
  readonly isOpen?: boolean;
  readonly onClose: () => void;
}

/**
 * A dialog with a form that orders one thing, with Enter or its button. It does so once: a second Enter must not make
 * another, whose answer hides the secret that is shown once. For the same reason it stays open until the gateway has
 * answered, and a click beside it does not close it.
 */
export function OrderForm<Values extends object, Answer>(props: OrderFormProps<Values, Answer>) {
  const { start, send, result, isOpen = true, onClose } = props;
  const form = useId();
  const [values, setValues] = useState(start);
  const { isPending, error, data, mutate, reset } = useOrder(
    async (changed: Partial<Values>) => await send(trimmed({ ...values, ...changed })),
    { changes: props.changes ?? [["people"]], ...(result === undefined ? { onDone: onClose } : {}) },
  );
  const isOver = data !== undefined && (props.isDone?.(data) ?? true);
  const other = data === undefined ? undefined : props.again?.(data);
  const isReady = hasNeeded(props.fields, values) && (props.isReady?.(values) ?? true);
  const close = (): void => {
    onClose();
    if (!isOver) return;
    // The next one begins with an empty form.
    reset();
    setValues(start);
  };
  const typed = { values, set: (some: Partial<Values>) => setValues((now) => ({ ...now, ...some })) };
  return (
    <Modal
      title={props.title}
      isOpen={isOpen}
      isForm
      isBusy={isPending}
      onClose={close}
      actions={
        !isOver && (
          <>
            {other !== undefined && (
              <Button
                isBusy={isPending || !isReady}
                onClick={() => {
                  typed.set(other.values);
                  mutate(other.values);
                }}
              >
                {other.label}
              </Button>
            )}
            <Button look="main" type="submit" form={form} isBusy={isPending || !isReady}>
              {inWords(props.submit, values)}
            </Button>
          </>
        )
      }
    >
      <form
        id={form}
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady && !isPending && !isOver) mutate({});
        }}
      >
        <FieldList fields={props.fields} typed={typed} />
        {props.note?.(values, isPending)}
        {data !== undefined && result?.(data)}
        {error !== null && <FailureNote error={error} />}
      </form>
    </Modal>
  );
}

/** The fields of a form. */
export function FieldList<Values extends object>({ fields, typed }: FieldListProps<Values>) {
  const names = Object.keys(fields) as (keyof Values & string)[];
  return names.map((name) => <Shown key={name} name={name} field={fields[name]} typed={typed} />);
}

interface FieldListProps<Values> {
  readonly fields: Fields<Values>;
  readonly typed: Typed<Values>;
}

interface ShownProps<Values> {
  readonly name: keyof Values;
  readonly field: Field<Values> | Control<Values>;
  readonly typed: Typed<Values>;
}

function Shown<Values>({ name, field, typed }: ShownProps<Values>) {
  if (typeof field === "function") return field(typed);
  const { values, set } = typed;
  const value: unknown = values[name];
  const change = (next: string | boolean): void => set({ [name]: next } as Partial<Values>);
  const label = inWords(field.label, values);
  const hint = inWords(field.hint, values);
  const named = { label, ...(hint === undefined ? {} : { hint }) };
  if (typeof value === "boolean")
    return <CheckField {...named} checked={value} onChange={({ target }) => change(target.checked)} />;
  const text = { ...named, value: String(value), disabled: field.isFixed === true };
  const { choices, kind } = field;
  if (choices !== undefined)
    return <SelectField {...text} choices={choices} onChange={({ target }) => change(target.value)} />;
  if (kind === "lines") return <LinesField {...text} onChange={({ target }) => change(target.value)} />;
  return <TextField {...text} {...kind} onChange={({ target }) => change(target.value)} />;
}

function inWords<Values, Answer>(said: Answering<Values, Answer>, values: Values): Answer {
  return typeof said === "function" ? (said as (values: Values) => Answer)(values) : said;
}

function hasNeeded<Values>(fields: Fields<Values>, values: Values): boolean {
  return (Object.keys(fields) as (keyof Values)[]).every((name) => {
    const field = fields[name];
    return typeof field === "function" || field.isNeeded !== true || String(values[name]).trim() !== "";
  });
}

function trimmed<Values extends object>(values: Values): Values {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, typeof value === "string" ? value.trim() : value]),
  ) as Values;
}
