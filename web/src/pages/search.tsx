import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState, useSyncExternalStore } from "react";
import { api, valueOf, type Schemas } from "../api/client.ts";
import { queries, useOrder } from "../api/queries.ts";
import { sessionStore } from "../api/session.ts";
import { Button, CopyButton } from "../parts/button.tsx";
import { TextField } from "../parts/field.tsx";
import { Page } from "../parts/page.tsx";
import { Empty, FailureNote, Skeleton } from "../parts/states.tsx";
import { count, plain } from "../words/format.ts";
import { shellWord } from "../words/words.ts";

type Report = Schemas["SearchReport"];
type Hit = Report["queries"][number]["tools"][number];
type Explanation = Schemas["Explanation"];
const here = getRouteApi("/search");

/** Exactly what discover_mcp_tools answers, and why each tool stands where it does. */
export function Search() {
  const { query = "", as } = here.useSearch();
  const navigate = useNavigate();
  const session = useSyncExternalStore(sessionStore.subscribe, sessionStore.get);
  const isAdmin = session.kind === "in" && session.session.roles.includes("admin");
  const [text, setText] = useState(query);
  const [person, setPerson] = useState(as ?? "");
  const [asked, setAsked] = useState(query);
  // The box of the frame leads here as well.
  if (asked !== query) {
    setAsked(query);
    setText(query);
  }
  const body = toBody(query, as);
  const found = useQuery({
    queryKey: ["search", query, as ?? ""],
    enabled: query !== "",
    queryFn: async () => await valueOf(api.POST("/api/search", { body: { ...body, explain: true, learn: false } })),
  });
  const hasMeaning = found.data?.meaning === "used";
  // The same by words alone, to see what embeddings add.
  const words = useQuery({
    queryKey: ["search", query, as ?? "", "words"],
    enabled: query !== "" && hasMeaning,
    queryFn: async () =>
      await valueOf(api.POST("/api/search", { body: { ...body, explain: true, learn: false, words_only: true } })),
  });
  const teach = useOrder(
    async () => await valueOf(api.POST("/api/search", { body: { ...toBody(query, undefined), learn: true } })),
    { changes: [] },
  );
  return (
    <Page title="Search" about="What a model would find with these words, and why. A trial teaches the search nothing.">
      <form
        className="filters"
        role="search"
        aria-label="Trial"
        onSubmit={(event) => {
          event.preventDefault();
          const search = { query: text.trim(), ...(person.trim() === "" ? {} : { as: person.trim() }) };
          teach.reset();
          void navigate({ to: "/search", search });
        }}
      >
        <div className="field grow">
          <label htmlFor="words">What is needed, one need in each line</label>
          <textarea
            id="words"
            rows={Math.min(6, text.split("\n").length)}
            value={text}
            onChange={({ target }) => setText(target.value)}
            onKeyDown={(event) => {
              if (event.key !== "Enter" || event.shiftKey) return;
              event.preventDefault();
              event.currentTarget.form?.requestSubmit();
            }}
          />
        </div>
        {isAdmin && (
          <TextField
            label="As somebody else"
            placeholder="yourself"
            value={person}
            onChange={({ target }) => setPerson(target.value)}
          />
        )}
        <Button look="main" type="submit">
          Search
        </Button>
      </form>
      {query === "" && <Examples />}
      {found.isError && <FailureNote error={found.error} onRetry={() => void found.refetch()} />}
      {found.isPending && query !== "" && <Skeleton lines={5} />}
      {found.data !== undefined && (
        <>
          <Summary report={found.data} query={query} />
          {as === undefined && (
            <p className="actions">
              <Button isBusy={teach.isPending || teach.isSuccess} onClick={() => teach.mutate()}>
                Learn from what I run now
              </Button>
              <span className="muted" role="status">
                {teach.isSuccess && "What you run next counts as found with these words, for your searches."}
              </span>
            </p>
          )}
          {teach.error !== null && <FailureNote error={teach.error} />}
          {words.isError && <FailureNote error={words.error} />}
          {found.data.queries.map((need, at) => (
            <Need
              key={at}
              need={need}
              isOnly={found.data.queries.length === 1}
              other={hasMeaning ? words.data?.queries[at] : undefined}
            />
          ))}
          <Unusable report={found.data} />
        </>
      )}
    </Page>
  );
}

/** Each line is a need of its own, as in `queries` of discover_mcp_tools. */
function toBody(text: string, as: string | undefined) {
  const needs = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const asked = needs.length > 1 ? { queries: needs } : { query: needs[0] ?? "" };
  return { ...asked, limit: 20, ...(as === undefined ? {} : { as }) };
}

const examples = 4;

/** Made of what is there: descriptions of tools, in a few words. */
function Examples() {
  const { data = [] } = useQuery(queries.tools);
  const step = Math.max(1, Math.floor(data.length / examples));
  const words = data
    .filter((tool, at) => at % step === 0 && tool.description !== null)
    .slice(0, examples)
    .map(
      (tool) => (tool.description ?? "").split(/[.\n]/, 1)[0]?.split(/\s+/).slice(0, 7).join(" ").toLowerCase() ?? "",
    );
  return (
    <Empty title="Say what is needed, in the words of a person">
      {words.length > 0 && (
        <ul className="chips">
          {words.map((text) => (
            <li key={text}>
              <Link to="/search" search={{ query: text }}>
                {plain(text)}
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Empty>
  );
}

function Summary({ report, query }: { readonly report: Report; readonly query: string }) {
  const found = report.queries.reduce((sum, { tools }) => sum + tools.length, 0);
  const total = report.queries.reduce((sum, need) => sum + need.total_found, 0);
  return (
    <p className="muted" role="status">
      {report.failed === null
        ? `${count(found)} of ${count(total)} found in ${report.search_time_ms.toFixed(1)} ms by ${report.engine ?? "no engine"}${report.meaning === "used" ? " and embeddings" : ""}; about ${count(report.answer_tokens)} tokens for a model. `
        : plain(report.failed)}
      {report.degraded !== null && plain(report.degraded)}
      <CopyButton
        label="Copy as command"
        text={`toolyard search ${shellWord(query.replaceAll("\n", " "))} --explain`}
      />
    </p>
  );
}

interface NeedProps {
  readonly need: Report["queries"][number];
  readonly isOnly: boolean;
  /** What words alone find, where embeddings are configured. */
  readonly other: Report["queries"][number] | undefined;
}

/** One need, and beside it the same by words alone. */
function Need({ need, isOnly, other }: NeedProps) {
  const before = new Map((other?.tools ?? []).map(({ tool_path: tool }, at) => [tool, at + 1]));
  return (
    <section className={other === undefined ? "stack" : "columns"} aria-label={`Found for ${plain(need.query)}`}>
      <div>
        {!isOnly && <h2>{plain(need.query)}</h2>}
        {other !== undefined && <h3>Words and embeddings</h3>}
        {need.tools.length === 0 && (
          <Empty title="Nothing fits">
            <p>A model would be told the same. Other words, or a description in the configuration, may help.</p>
          </Empty>
        )}
        <ol className="hits">
          {need.tools.map((tool) => (
            <HitRow
              key={tool.tool_path}
              tool={tool}
              note={other === undefined ? "" : placeNote(before.get(tool.tool_path))}
            />
          ))}
        </ol>
      </div>
      {other !== undefined && (
        <div>
          <h3>Words alone</h3>
          <ol className="hits">
            {other.tools.map((tool) => (
              <HitRow key={tool.tool_path} tool={tool} note="" />
            ))}
          </ol>
        </div>
      )}
    </section>
  );
}

function placeNote(place: number | undefined): string {
  return place === undefined ? "not by words alone" : `number ${place} by words alone`;
}

function Unusable({ report }: { readonly report: Report }) {
  const missing = report.unavailable_others + report.unavailable.length;
  if (missing === 0) return null;
  return (
    <p className="note warn">
      {count(missing)} servers cannot be used now; the model is told so. <Link to="/servers">Look at them</Link>
    </p>
  );
}

function HitRow({ tool, note }: { readonly tool: Hit; readonly note: string }) {
  return (
    <li>
      <div className="hit-head">
        <Link to="/run/$tool" params={{ tool: tool.tool_path }}>
          <code>{plain(tool.tool_path)}</code>
        </Link>
        <span className="muted number">distance {tool.relevance_score.toFixed(2)}</span>
        {note !== "" && <span className="muted">{note}</span>}
        {tool.status !== "online" && <span className="muted">{plain(tool.status)}</span>}
      </div>
      <p>{plain(tool.description)}</p>
      {tool.explanation !== undefined && <Why explanation={tool.explanation} />}
    </li>
  );
}

const percent = new Intl.NumberFormat("en", { style: "percent" });

function Why({ explanation }: { readonly explanation: Explanation }) {
  const { words, phrases, coverage, intent, serverFit, learned } = explanation;
  const parts = [
    ...words.map(({ asked, share, found }) => ({
      name: asked,
      share,
      about: found
        .map(
          ({ word, relation, fields }) =>
            `${relation === "word" ? word : `${relation}: ${word}`} in ${fields.join(", ")}`,
        )
        .join("; "),
    })),
    ...phrases.map(({ asked, where, share }) => ({ name: `“${asked}”`, share, about: `neighbours in its ${where}` })),
    { name: "name", share: coverage.share, about: `${percent.format(coverage.ofName)} of its name was asked for` },
    {
      name: "intent",
      share: intent.share,
      about: `asked: ${intent.asked.join(", ") || "nothing in particular"}; it does: ${intent.does ?? "not known"}`,
    },
    { name: "server", share: serverFit.share, about: "its server fits the words" },
    { name: "learned", share: learned.share, about: "such queries led here before" },
  ].filter(({ share }) => Math.abs(share) >= 0.005);
  return (
    <details className="why">
      <summary>
        <span className="bar" role="img" aria-label="Where its score comes from">
          {parts
            .filter(({ share }) => share > 0)
            .map(({ name, share }, at) => (
              <span key={`${name}-${at}`} className={`slice s${at % 6}`} style={{ flexGrow: share }} />
            ))}
        </span>
        Why
      </summary>
      <table>
        <thead>
          <tr>
            <th scope="col">Share</th>
            <th scope="col">Of</th>
            <th scope="col">Because</th>
          </tr>
        </thead>
        <tbody>
          {parts.map(({ name, share, about }, at) => (
            <tr key={`${name}-${at}`}>
              <td className="right">{percent.format(share)}</td>
              <td>{plain(name)}</td>
              <td>{plain(about)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
