import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState, type ReactNode, type RefObject } from "react";
import {
  answerTypes,
  choicesOf,
  headersOf,
  pathOf,
  standalone,
  toCurl,
  valueKey,
  type ApiParameter,
  type ApiRoute,
  type ApiValues,
  type OpenApi,
} from "../../words/api-operation.ts";
import { plain } from "../../words/format.ts";
import { ApiAnswerView } from "./api-answer.tsx";
import { useApiCall } from "./api-call.ts";
import { Button, CopyButton } from "../basic/button.tsx";
import { Modal } from "../forms/confirm.tsx";
import { SelectField, TextField } from "../forms/field.tsx";
import { ObjectEditor } from "../settings/object-editor.tsx";

/** Sends one operation with the session of the page, and shows what the gateway answers. */
export function ApiTrial({ route, description }: { readonly route: ApiRoute; readonly description: OpenApi }) {
  const { method, requestBody, parameters = [] } = route;
  const types = answerTypes(route);
  const [values, setValues] = useState<ApiValues>({});
  const [body, setBody] = useState("{}");
  const [type, setType] = useState(types[0]);
  const [isAsking, setAsking] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const place = useRef<HTMLElement>(null);
  useEffect(() => {
    place.current?.scrollIntoView({ block: "nearest" });
  }, []);
  const client = useQueryClient();
  const { call, send, stop } = useApiCall(() => void client.invalidateQueries());
  const schema = requestBody?.content["application/json"]?.schema;
  const path = pathOf(route, values);
  const headers = headersOf(route, values, type);
  const sent = { method, path, headers, body: schema === undefined ? undefined : body };
  const isBusy = call.state === "running";
  const order = (): void => {
    if (form.current?.reportValidity() === false || isBusy) return;
    if (method === "GET") void send(sent);
    else setAsking(true);
  };
  const stopButton = isBusy && <Button onClick={stop}>Stop</Button>;
  return (
    <section className="columns run trial" aria-label={`Try ${method} ${route.path}`} ref={place}>
      <div className="stack">
        {route.description !== undefined && <p className="muted">{plain(route.description)}</p>}
        <Parameters
          form={form}
          parameters={parameters}
          values={values}
          onChange={(key, value) => setValues({ ...values, [key]: value })}
          onSubmit={order}
        >
          {types.length > 1 && (
            <SelectField
              label="Answer as"
              choices={types.map((one) => [one, one] as const)}
              value={type ?? ""}
              onChange={({ target }) => setType(target.value)}
            />
          )}
          {schema === undefined && (
            <div className="actions">
              <Button look="main" type="submit" isBusy={isBusy}>
                Send
              </Button>
              {stopButton}
            </div>
          )}
        </Parameters>
        {schema !== undefined && (
          <ObjectEditor
            title="Body"
            schema={standalone(schema, description)}
            text={body}
            onText={setBody}
            submit="Send"
            isBusy={isBusy}
            onSubmit={order}
          >
            {stopButton}
          </ObjectEditor>
        )}
        <p>
          <code className="command-line">{`${method} ${path}`}</code>{" "}
          <CopyButton label="Copy this as curl" text={() => toCurl({ ...sent, url: `${location.origin}${path}` })} />
        </p>
      </div>
      <Outcome call={call} />
      <Modal
        title={`Send ${method} ${path}?`}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        actions={
          <Button
            look={method === "DELETE" ? "danger" : "main"}
            onClick={() => {
              setAsking(false);
              void send(sent);
            }}
          >
            Send it
          </Button>
        }
      >
        <p>{plain(route.summary)}. It is done in this gateway, as you, and may change something at once.</p>
      </Modal>
    </section>
  );
}

function Outcome({ call }: { readonly call: ReturnType<typeof useApiCall>["call"] }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (call.state === "done" || call.state === "failed") place.current?.focus();
  }, [call.state]);
  return (
    <div className="outcome" ref={place} tabIndex={-1} role="group" aria-label="Outcome">
      <ApiAnswerView call={call} />
    </div>
  );
}

interface ParametersProps {
  readonly form: RefObject<HTMLFormElement | null>;
  readonly parameters: readonly ApiParameter[];
  readonly values: ApiValues;
  readonly onChange: (key: string, value: string) => void;
  readonly onSubmit: () => void;
  readonly children: ReactNode;
}

const placeWords = { path: "in the path", query: "in the query", header: "as a header" } as const;

/** A field for each; those that are needed are asked for by the browser. */
function Parameters({ form, parameters, values, onChange, onSubmit, children }: ParametersProps) {
  return (
    <form
      ref={form}
      className="stack"
      aria-label="Parameters"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {parameters.map((parameter) => {
        const key = valueKey(parameter);
        const choices = choicesOf(parameter);
        const isNeeded = parameter.required || parameter.in === "path";
        const about = parameter.description === undefined ? "" : `: ${plain(parameter.description)}`;
        const field = {
          label: `${parameter.name}${isNeeded ? " (needed)" : ""}`,
          hint: `${placeWords[parameter.in]}${about}`,
          required: isNeeded,
          value: values[key] ?? "",
        };
        return choices === undefined ? (
          <TextField key={key} {...field} onChange={({ target }) => onChange(key, target.value)} />
        ) : (
          <SelectField
            key={key}
            {...field}
            choices={[["", "not said"], ...choices.map((one) => [one, one] as const)]}
            onChange={({ target }) => onChange(key, target.value)}
          />
        );
      })}
      {children}
    </form>
  );
}
