import { bytes, duration, plain } from "../../words/format.ts";
import type { ApiAnswer, ApiCall } from "./api-call.ts";
import { Button, CopyButton } from "../basic/button.tsx";
import { Facts } from "../basic/facts.tsx";
import { LongText } from "../basic/long-text.tsx";
import { saveBlob } from "./save-blob.ts";
import { Empty, FailureNote } from "../basic/states.tsx";

/** What the gateway answered: status, headers and body, which may hold what servers wrote. */
export function ApiAnswerView({ call }: { readonly call: ApiCall }) {
  const { state, answer, failure, durationMs } = call;
  return (
    <>
      <div aria-live="polite">
        {state === "idle" && <Empty title="The answer appears here" />}
        {state === "running" && <p>{answer === undefined ? "Waiting for the answer" : "It is still answering"}</p>}
        {answer !== undefined && (
          <p>
            <strong className={answer.status < 400 ? undefined : "bad-text"}>
              {answer.status} {plain(answer.statusText)}
            </strong>{" "}
            <span className="muted">
              {plain(answer.type)}, {bytes(answer.content.size)}
              {durationMs !== undefined && state !== "running" && `, ${duration(durationMs)}`}
            </span>
          </p>
        )}
      </div>
      {failure !== undefined && <FailureNote error={failure} />}
      {answer !== undefined && (
        <section className="result" aria-label="Answer">
          <details>
            <summary>Headers</summary>
            <Facts facts={answer.headers} />
          </details>
          <Body answer={answer} />
        </section>
      )}
    </>
  );
}

function Body({ answer: { text, type, content, isCut } }: { readonly answer: ApiAnswer }) {
  if (content.size === 0) return <p className="muted">It has no body.</p>;
  return (
    <>
      {isCut && <p className="note warn">It goes on: the rest was not read.</p>}
      {text === undefined ? (
        <p className="muted">
          This is no text. <Button onClick={() => saveBlob(content, "answer")}>Download</Button>
        </p>
      ) : (
        <>
          <LongText text={text} isJson={/[/+]json\b/.test(type)} file="answer.txt" />
          <CopyButton label="Copy the body" text={text} />
        </>
      )}
    </>
  );
}
