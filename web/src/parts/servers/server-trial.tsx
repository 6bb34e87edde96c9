import { useEffect, useRef, useState } from "react";
import { api, valueOf, type Schemas } from "../../api/client.ts";
import { useOrder } from "../../api/queries.ts";
import { count, counted, duration, plain } from "../../words/format.ts";
import { Button } from "../basic/button.tsx";
import { FailureNote } from "../basic/states.tsx";

type Trial = Schemas["ServerTrial"];

interface TestServerProps {
  readonly given: Schemas["TriedServer"];
  /** Whether enough was typed, and nothing else is under way. */
  readonly isReady: boolean;
}

/** Tries a server that is not in the configuration. What was begun ends with the dialog, or with another test. */
export function TestServer({ given, isReady }: TestServerProps) {
  const running = useRef<AbortController>(undefined);
  const [tested, setTested] = useState("");
  useEffect(() => () => running.current?.abort(), []);
  const trial = useOrder(
    async () => {
      const controller = new AbortController();
      running.current = controller;
      setTested(JSON.stringify(given));
      return await valueOf(api.POST("/api/servers/test", { body: given, signal: controller.signal }));
    },
    { changes: [] },
  );
  const isCurrent = tested === JSON.stringify(given);
  return (
    <>
      <div className="actions">
        <Button isBusy={trial.isPending || !isReady} onClick={() => trial.mutate()}>
          Test
        </Button>
        {trial.isPending && <Button onClick={() => running.current?.abort()}>Stop the test</Button>}
        <span role="status" className="muted">
          {trial.isPending ? "Starting it apart from the gateway: a first start may install packages." : ""}
        </span>
      </div>
      {trial.error !== null && isCurrent && !isAborted(trial.error) && <FailureNote error={trial.error} />}
      {trial.data !== undefined && isCurrent && !trial.isPending && <TrialNote trial={trial.data} isNew />}
    </>
  );
}

function isAborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/** What came of a trial: what the server says and offers, or why it cannot be used. */
export function TrialNote({ trial, isNew = false }: { readonly trial: Trial; readonly isNew?: boolean }) {
  const { ok, tools, output } = trial;
  return (
    <div className={`note ${ok ? "good" : "bad"}`} role={ok ? "status" : "alert"}>
      <div className="grow">
        {ok ? <Answered trial={trial} isNew={isNew} /> : <Failed trial={trial} />}
        {tools.length > 0 && (
          <details>
            <summary>{counted(tools.length, "tool")}</summary>
            <ul>
              {tools.map(({ name, description }) => (
                <li key={name}>
                  <code>{plain(name)}</code> {plain(description)}
                </li>
              ))}
            </ul>
          </details>
        )}
        {output.length > 0 && (
          <details open={!ok}>
            <summary>Its last output</summary>
            <pre tabIndex={0} className="wrap">
              {plain(output.join("\n"))}
            </pre>
          </details>
        )}
      </div>
    </div>
  );
}

function Answered({ trial, isNew }: { readonly trial: Trial; readonly isNew: boolean }) {
  const { server, revision, offers, tokens, durationMs } = trial;
  const names = [server?.title ?? server?.name, server?.version].filter((text) => typeof text === "string");
  return (
    <>
      <p>
        It answers{names.length === 0 ? "" : ` as ${plain(names.join(" "))}`}, within {duration(durationMs)}.
        {isNew && " Nothing is added yet."}
      </p>
      <p className="muted">
        MCP {revision ?? "of an unknown revision"}
        {offers !== null &&
          `; ${counted(offers.tools, "tool")}, ${counted(offers.resources, "resource")}, ${counted(offers.prompts, "prompt")}`}
        {tokens > 0 && `; ${count(tokens)} tokens in a flat list`}
      </p>
    </>
  );
}

function Failed({ trial: { reason, hint, code, durationMs } }: { readonly trial: Trial }) {
  return (
    <>
      <p>
        {plain(reason)} {code !== null && <span className="muted">({code})</span>}
      </p>
      {hint !== null && <p className="muted">{plain(hint)}</p>}
      <p className="muted">After {duration(durationMs)}. None of its processes is left running.</p>
    </>
  );
}
