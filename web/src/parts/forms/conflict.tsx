import { useEffect, useState, type ReactNode } from "react";
import { toFailure } from "../../api/failure.ts";
import type { Revised } from "../../api/people-queries.ts";
import { useOrder, type OrderOptions } from "../../api/queries.ts";
import { plain } from "../../words/format.ts";
import { Button } from "../basic/button.tsx";
import { FailureNote } from "../basic/states.tsx";

interface SteadyProps<Value> {
  /** As it was read last. */
  readonly latest: Revised<Value>;
  /**
   * A form of the version that somebody began with; `renew` has it begin again with what was read last. `touch` is for
   * changes that are made without typing.
   */
  readonly children: (base: Revised<Value>, renew: () => void, touch: () => void) => ReactNode;
}

/** What somebody has begun to change stays as it is, whatever is read meanwhile: nothing that was typed is lost. */
export function Steady<Value>({ latest, children }: SteadyProps<Value>) {
  const [base, setBase] = useState(latest);
  const [isTouched, setTouched] = useState(false);
  useEffect(() => {
    if (!isTouched) setBase(latest);
  }, [isTouched, latest]);
  const touch = (): void => setTouched(true);
  return (
    <div key={base.etag} onChangeCapture={touch}>
      {children(base, () => setTouched(false), touch)}
    </div>
  );
}

interface RevisedChange<Value, Given, Answer> {
  /** As it was when somebody began to change it. */
  readonly base: Revised<Value>;
  /** As it is now. */
  readonly read: () => Promise<Revised<Value>>;
  /** Changes it, if it is still the version with this entity tag; `seen` is what somebody was shown last. */
  readonly write: (given: Given, etag: string, seen: Value) => Promise<Answer>;
  readonly changes: readonly (readonly string[])[];
  readonly onDone?: (answer: Answer) => void;
  readonly said?: OrderOptions<Given, Answer>["said"];
}

/**
 * A change of what others may change, too. When somebody came first, nothing is changed: `theirs` is what they made of
 * it, and the same order given once more then takes its place.
 */
export function useRevisedChange<Value, Given, Answer>(change: RevisedChange<Value, Given, Answer>) {
  const { base, read, write, changes, onDone, said } = change;
  const [theirs, setTheirs] = useState<Revised<Value>>();
  const order = useOrder(
    async (given: Given) => {
      try {
        const seen = theirs ?? base;
        const answer = await write(given, seen.etag, seen.value);
        setTheirs(undefined);
        return answer;
      } catch (error) {
        const { status, code } = toFailure(error);
        if (status === 412 || code === "CONFIG_CHANGED") setTheirs(await read());
        throw error;
      }
    },
    { changes, ...(onDone === undefined ? {} : { onDone }), ...(said === undefined ? {} : { said }) },
  );
  return {
    ...order,
    theirs: theirs?.value,
    forget: () => {
      setTheirs(undefined);
      order.reset();
    },
  };
}

interface RevisedFormProps<Given> {
  readonly change: {
    readonly error: unknown;
    readonly isPending: boolean;
    readonly mutate: (given: Given) => void;
  };
  readonly given: Given;
  readonly isChanged: boolean;
  /** As `Conflict` has them. */
  readonly rows: ConflictProps["rows"];
  readonly renew: () => void;
  /** The fields. */
  readonly children: ReactNode;
  /** Beside its button. */
  readonly actions?: ReactNode;
}

/** A form of what others may change, too: it saves what was changed, with Enter or its button. */
export function RevisedForm<Given>(props: RevisedFormProps<Given>) {
  const { change, given, isChanged, rows, renew, children, actions } = props;
  const save = (): void => change.mutate(given);
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (isChanged && !change.isPending) save();
      }}
    >
      {children}
      <Conflict error={change.error} rows={rows} isBusy={change.isPending} onKeep={save} onTake={renew} />
      <div className="actions">
        <Button look="main" type="submit" isBusy={change.isPending || !isChanged}>
          Save
        </Button>
        {actions}
      </div>
    </form>
  );
}

interface ConflictProps {
  readonly error: unknown;
  /** What differs: what it is about, theirs, and one's own. */
  readonly rows: readonly (readonly [what: string, theirs: string, mine: string])[] | undefined;
  readonly isBusy: boolean;
  readonly onKeep: () => void;
  readonly onTake: () => void;
}

/** Why a change was not made; when somebody else came first, both versions, and the choice between them. */
export function Conflict({ error, rows, isBusy, onKeep, onTake }: ConflictProps) {
  if (error === null) return null;
  if (rows === undefined) return <FailureNote error={error} />;
  return (
    <div className="note warn" role="alert">
      <div className="grow">
        <p>Someone else has changed this. Your version is not saved yet.</p>
        <table>
          <caption className="hidden">Both versions</caption>
          <thead>
            <tr>
              <th scope="col">What</th>
              <th scope="col">Theirs, in force</th>
              <th scope="col">Yours</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(([what, theirs, mine]) => (
              <tr key={what}>
                <th scope="row">{plain(what)}</th>
                <td>{plain(theirs)}</td>
                <td>{plain(mine)}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <div className="actions">
          <Button isBusy={isBusy} onClick={onKeep}>
            Save mine over theirs
          </Button>
          <Button onClick={onTake}>Take theirs</Button>
        </div>
      </div>
    </div>
  );
}
