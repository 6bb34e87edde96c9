import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { plain } from "../../words/format.ts";
import { Button } from "../basic/button.tsx";
import { FailureNote, Skeleton } from "../basic/states.tsx";
import type { Question, QuestionAnswer } from "./tool-run.ts";

const ToolForm = lazy(async () => ({ default: (await import("./tool-form.tsx")).ToolForm }));

interface QuestionFormProps {
  readonly question: Question;
  readonly server: string;
  readonly onAnswer: (given: QuestionAnswer) => Promise<void>;
}

/** What a server asks in the middle of a call: a form, or an address to open. */
export function QuestionForm({ question, server, onAnswer }: QuestionFormProps) {
  const [failure, setFailure] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const place = useRef<HTMLElement>(null);
  useEffect(() => place.current?.focus(), []);
  const answer = (given: QuestionAnswer): void => {
    setBusy(true);
    setFailure(undefined);
    onAnswer(given).catch((error: unknown) => {
      setBusy(false);
      setFailure(error);
    });
  };
  const { mode, message = "", url = "", requestedSchema } = question.params;
  const refusals = (
    <>
      <Button isBusy={isBusy} onClick={() => answer({ action: "decline" })}>
        Decline
      </Button>
      <Button look="plain" isBusy={isBusy} onClick={() => answer({ action: "cancel" })}>
        Not now
      </Button>
    </>
  );
  return (
    <section className="note ask question" ref={place} tabIndex={-1} aria-label={`Question of ${plain(server)}`}>
      <div className="grow">
        <p className="question-text">{plain(message)}</p>
        <p className="muted">What you enter is sent to this server. Never enter a password that belongs elsewhere.</p>
        {mode === "url" ? (
          <UrlQuestion url={url} isBusy={isBusy} onOpen={() => answer({ action: "accept" })}>
            {refusals}
          </UrlQuestion>
        ) : (
          <Suspense fallback={<Skeleton />}>
            <AskedForm schema={requestedSchema ?? {}} isBusy={isBusy} onAnswer={answer}>
              {refusals}
            </AskedForm>
          </Suspense>
        )}
        {failure !== undefined && <FailureNote error={failure} />}
      </div>
    </section>
  );
}

interface AskedFormProps {
  readonly schema: Readonly<Record<string, unknown>>;
  readonly isBusy: boolean;
  readonly onAnswer: (given: QuestionAnswer) => void;
  readonly children: React.ReactNode;
}

function AskedForm({ schema, isBusy, onAnswer, children }: AskedFormProps) {
  const [value, setValue] = useState<NonNullable<QuestionAnswer["content"]>>({});
  return (
    <ToolForm
      idPrefix="question"
      schema={schema}
      value={value}
      onChange={(next) => setValue(next as typeof value)}
      onSubmit={() => onAnswer({ action: "accept", content: value })}
    >
      <div className="actions">
        <Button look="main" type="submit" isBusy={isBusy}>
          Answer
        </Button>
        {children}
      </div>
    </ToolForm>
  );
}

interface UrlQuestionProps {
  readonly url: string;
  readonly isBusy: boolean;
  readonly onOpen: () => void;
  readonly children: React.ReactNode;
}

/** The whole address is shown, and it is opened by a person only: nothing of it is loaded before. */
function UrlQuestion({ url, isBusy, onOpen, children }: UrlQuestionProps) {
  const target = toWebUrl(url);
  return (
    <>
      <p>
        It wants you to open <strong>{target === undefined ? "an address that is none" : plain(target.host)}</strong>:
      </p>
      <code className="command-line">{plain(url)}</code>
      <div className="actions">
        {target !== undefined && (
          <a
            className="button main"
            href={target.href}
            target="_blank"
            rel="noopener noreferrer"
            aria-disabled={isBusy || undefined}
            onClick={onOpen}
          >
            Open it, and go on
          </a>
        )}
        {children}
      </div>
    </>
  );
}

/** Only pages: an address of another kind could run something. */
function toWebUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url?.protocol === "https:" || url?.protocol === "http:" ? url : undefined;
}
