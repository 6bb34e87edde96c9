import { useQuery } from "@tanstack/react-query";
import { useState, type Ref } from "react";
import { api, valueOf, type Schemas } from "../../api/client.ts";
import { useOrder } from "../../api/queries.ts";
import { propose, resourceQueries, type Content, type PromptArgument } from "../../api/resource-queries.ts";
import { count, plain } from "../../words/format.ts";
import { toCommand } from "../../words/words.ts";
import { Button, CopyButton } from "../basic/button.tsx";
import { ContentView } from "./content-view.tsx";
import { useInSight } from "../basic/in-sight.ts";
import { ListCopies } from "../servers/list-copies.tsx";
import { Section } from "../page.tsx";
import { ProposingField } from "../settings/proposing-field.tsx";
import { Empty, FailureNote, Loaded } from "../basic/states.tsx";

type Prompt = Schemas["PromptList"]["prompts"][number];

interface PromptsProps {
  readonly match: string;
  readonly server: string;
  readonly chosen: string | undefined;
  readonly onChoose: (name: string) => void;
}

/** Prompts of all servers; one of them with a form of its arguments, and what the server writes for them. */
export function Prompts({ match, server, chosen, onChoose }: PromptsProps) {
  const prompts = useQuery(resourceQueries.prompts);
  const place = useInSight(chosen);
  const words = match.toLowerCase().split(/\s+/);
  const fits = (prompt: Prompt): boolean => {
    const text = `${prompt.name} ${prompt.title ?? ""} ${prompt.description ?? ""}`.toLowerCase();
    return (server === "" || prompt.server === server) && words.every((word) => text.includes(word));
  };
  return (
    <Loaded query={prompts} lines={6}>
      {({ prompts: all }) => {
        const rows = all.filter(fits);
        const prompt = all.find(({ name }) => name === chosen);
        return (
          <div className="columns run reading">
            <Section
              title="Prompts"
              about={count(rows.length)}
              actions={<ListCopies command={toCommand("prompts", [server], { match })} rows={rows} />}
            >
              {rows.length === 0 ? (
                <Empty
                  title={all.length === 0 ? "None of your servers offers prompts" : "No prompts fit these filters"}
                />
              ) : (
                <ul className="list" aria-label="Prompts">
                  {rows.map((row) => (
                    <li key={row.name} className={row.name === chosen ? "picked" : undefined}>
                      <button
                        type="button"
                        className="button plain pick"
                        aria-pressed={row.name === chosen}
                        onClick={() => onChoose(row.name)}
                      >
                        {plain(row.title ?? row.name)}
                      </button>
                      <span className="muted">{plain(row.server)}</span>
                      {row.description !== undefined && <span className="muted wide">{plain(row.description)}</span>}
                    </li>
                  ))}
                </ul>
              )}
            </Section>
            {prompt === undefined ? (
              <Section title="Prompt" place={place}>
                <p className="muted">Choose one to fill in.</p>
              </Section>
            ) : (
              <PromptForm key={prompt.name} prompt={prompt} place={place} />
            )}
          </div>
        );
      }}
    </Loaded>
  );
}

function PromptForm({ prompt, place }: { readonly prompt: Prompt; readonly place: Ref<HTMLElement> }) {
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const fields = (prompt.arguments ?? []) as unknown as readonly PromptArgument[];
  const get = useOrder(
    async () => {
      const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));
      const params = { path: { name: prompt.name } };
      return await valueOf(api.POST("/api/prompts/{name}", { params, body: { arguments: given } }));
    },
    { changes: [] },
  );
  const isMissing = fields.some(({ name, required }) => required === true && (values[name] ?? "") === "");
  return (
    <Section title={plain(prompt.title ?? prompt.name)} place={place}>
      <form
        className="stack"
        aria-label="Arguments"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isMissing) get.mutate();
        }}
      >
        {fields.length === 0 && <p className="muted">It takes no arguments.</p>}
        {fields.map(({ name, description, required = false }) => (
          <ProposingField
            key={name}
            label={`${plain(name)}${required ? " (needed)" : ""}`}
            {...(description === undefined ? {} : { hint: plain(description) })}
            value={values[name] ?? ""}
            about={`${prompt.name} ${name} ${JSON.stringify({ ...values, [name]: undefined })}`}
            propose={async (value) =>
              await propose({ ref: { type: "ref/prompt", name: prompt.name }, name, value, others: values })
            }
            onChange={(value) => setValues({ ...values, [name]: value })}
          />
        ))}
        <div className="actions">
          <Button look="main" type="submit" isBusy={get.isPending || isMissing}>
            Get the prompt
          </Button>
        </div>
      </form>
      <div aria-live="polite">
        {get.error !== null && <FailureNote error={get.error} />}
        {get.data !== undefined && <Messages answer={get.data} />}
      </div>
    </Section>
  );
}

interface Message {
  readonly role?: string;
  readonly content?: {
    readonly type?: string;
    readonly text?: string;
    readonly data?: string;
    readonly mimeType?: string;
    readonly resource?: Content;
  };
}

function Messages({ answer }: { readonly answer: Schemas["PromptMessages"] }) {
  const messages = answer.messages as readonly Message[];
  return (
    <section className="stack" aria-label="What the server wrote">
      {answer.description !== undefined && <p className="muted">{plain(answer.description)}</p>}
      {messages.map(({ role = "", content = {} }, at) => (
        <article key={at} className="card">
          <div className="card-head">
            <strong>{plain(role)}</strong>
            {content.text !== undefined && <CopyButton label="Copy" text={content.text} />}
          </div>
          <ContentView content={toContent(content)} />
        </article>
      ))}
      {messages.length === 0 && <p className="muted">The server wrote nothing.</p>}
    </section>
  );
}

/** What a message has, as a resource would have it. */
function toContent({ text, data, mimeType, resource, ...others }: NonNullable<Message["content"]>): Content {
  if (resource !== undefined) return resource;
  const type = mimeType === undefined ? {} : { mimeType };
  if (data !== undefined) return { ...type, blob: data };
  return { ...type, text: text ?? JSON.stringify(others) };
}
