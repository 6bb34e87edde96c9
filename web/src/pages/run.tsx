import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import type { Schemas } from "../api/client.ts";
import { queries } from "../api/queries.ts";
import { keepArguments, keepSent, typedArguments } from "../api/typed-arguments.ts";
import { Button, CopyButton } from "../parts/basic/button.tsx";
import { Folded } from "../parts/basic/folded.tsx";
import { ObjectEditor } from "../parts/settings/object-editor.tsx";
import { Page } from "../parts/page.tsx";
import { ResultView } from "../parts/tools/result-view.tsx";
import { Empty, FailureNote, Skeleton, LoadedPage } from "../parts/basic/states.tsx";
import { QuestionForm } from "../parts/tools/question-form.tsx";
import { ServerIcon } from "../parts/servers/server-icon.tsx";
import { ToolHistory } from "../parts/tools/tool-history.tsx";
import { useToolRun, type QuestionAnswer, type ToolRun } from "../parts/tools/tool-run.ts";
import { appUriOf } from "../words/app-policy.ts";
import { duration, plain } from "../words/format.ts";
import { effectText } from "../words/tool-effect.ts";
import { shellWord } from "../words/words.ts";

const AppFrame = lazy(async () => ({ default: (await import("../parts/app-frame.tsx")).AppFrame }));
const here = getRouteApi("/run/$tool");

/** Runs any tool: a form made from its schema, or JSON. */
export function Run() {
  const { tool } = here.useParams();
  const details = useQuery(queries.tool(tool));
  return (
    <LoadedPage query={details} title={tool}>
      {(found) => <Runner key={found.tool_path} tool={found} />}
    </LoadedPage>
  );
}

type Details = Schemas["ToolDetails"];
function Runner({ tool }: { readonly tool: Details }) {
  const { definition } = tool;
  const [text, setText] = useState(() => typedArguments(tool.tool_path) ?? "{}");
  const { run, call, answer, cancel } = useToolRun(tool.tool_path);
  useEffect(() => keepArguments(tool.tool_path, text), [tool.tool_path, text]);
  return (
    <Page
      title={tool.tool_path}
      icon={<ServerIcon name={tool.server} />}
      about={
        <>
          <Link to="/servers/$server" params={{ server: tool.server }}>
            {plain(tool.server)}
          </Link>{" "}
          · {effectText(tool)} ·{" "}
          <Link to="/calls" search={{ tool: tool.tool_path }}>
            Its calls
          </Link>
        </>
      }
      actions={<Copies tool={tool} text={text} />}
    >
      {typeof definition["description"] === "string" && (
        <p className="description">
          <Folded text={plain(definition["description"])} most={400} />
        </p>
      )}
      <code className="command-line">
        {plain(tool.tool_path)} {plain(tool.input)}
      </code>
      <div className="columns run">
        <ObjectEditor
          title="Arguments"
          schema={definition.inputSchema}
          text={text}
          onText={setText}
          submit="Run"
          isBusy={run.state === "running"}
          onSubmit={() => {
            keepSent(tool.tool_path, text);
            void call(text);
          }}
        >
          {run.state === "running" && <Button onClick={cancel}>Cancel</Button>}
        </ObjectEditor>
        <Outcome run={run} tool={tool} onAnswer={answer} onUse={setText} />
      </div>
    </Page>
  );
}

interface OutcomeProps {
  readonly run: ToolRun;
  readonly tool: Details;
  readonly onAnswer: (id: string, given: QuestionAnswer) => Promise<void>;
  /** Puts arguments of an earlier call into the form. */
  readonly onUse: (text: string) => void;
}

function Outcome({ run, tool, onAnswer, onUse }: OutcomeProps) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (run.state === "done" || run.state === "failed") place.current?.focus();
  }, [run.state]);
  const { progress } = run;
  const { definition } = tool;
  const appUri = appUriOf(definition);
  return (
    <div className="outcome" ref={place} tabIndex={-1} role="group" aria-label="Outcome">
      <div aria-live="polite">
        {run.state === "idle" && (
          <Empty title="The result appears here">
            <p>{argumentCount(tool) === 0 ? "It takes no arguments." : "Fill in the arguments, and run it."}</p>
          </Empty>
        )}
        {run.state === "running" && (
          <>
            <p>
              {run.questions.length > 0
                ? "It waits for your answer."
                : progress?.message === undefined
                  ? "Running"
                  : plain(progress.message)}
            </p>
            <progress
              aria-label="Progress"
              max={progress?.total}
              value={progress?.total === undefined ? undefined : progress.progress}
            />
          </>
        )}
        {run.durationMs !== undefined && run.state !== "running" && <p className="muted">{duration(run.durationMs)}</p>}
      </div>
      {run.log.length > 0 && (
        <pre tabIndex={0} className="wrap" aria-label="Messages of the tool">
          {plain(run.log.join("\n"))}
        </pre>
      )}
      {run.questions.slice(0, 1).map((question) => (
        <QuestionForm
          key={question.id}
          question={question}
          server={tool.server}
          onAnswer={async (given) => await onAnswer(question.id, given)}
        />
      ))}
      {run.failure !== undefined && <FailureNote error={run.failure} />}
      {appUri !== undefined && run.state !== "idle" && (
        <Suspense fallback={<Skeleton />}>
          <AppFrame key={run.number} tool={tool} uri={appUri} sent={run.sent} answer={run.answer} />
        </Suspense>
      )}
      {run.answer !== undefined && (
        <ResultView
          text={run.answer}
          sent={run.sent}
          schema={definition["outputSchema"] as Readonly<Record<string, unknown>> | undefined}
        />
      )}
      <ToolHistory tool={tool.tool_path} number={run.number} onUse={onUse} />
    </div>
  );
}

function argumentCount({ definition: { inputSchema } }: Details): number {
  return Object.keys((inputSchema as { readonly properties?: object }).properties ?? {}).length;
}

function Copies({ tool, text }: { readonly tool: Details; readonly text: string }) {
  const url = shellWord(`${location.origin}/execute/${encodeURIComponent(tool.tool_path)}`);
  const quoted = `'${text.replaceAll("'", "'\\''")}'`;
  return (
    <>
      <CopyButton label="Copy as curl" text={`curl -X POST ${url} -H 'Content-Type: application/json' -d ${quoted}`} />
      <CopyButton label="Copy as command" text={`toolyard call ${shellWord(tool.tool_path)} ${quoted}`} />
      <CopyButton
        label="Copy as MCP"
        text={`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":${JSON.stringify(tool.tool_path)},"arguments":${text}}}`}
      />
    </>
  );
}
