import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, valueOf, type Schemas } from "../api/client.ts";
import { queries } from "../api/queries.ts";
import { Button, CopyButton } from "../parts/button.tsx";
import { Page } from "../parts/page.tsx";
import { Empty, FailureNote, Skeleton } from "../parts/states.tsx";
import { count, plain } from "../words/format.ts";

type Report = Schemas["SearchReport"];
type Hit = Report["queries"][number]["tools"][number];
type Explanation = Schemas["Explanation"];
const here = getRouteApi("/search");

/** Exactly what discover_mcp_tools answers, and why each tool stands where it does. */
export function Search() {
  const { query = "" } = here.useSearch();
  const navigate = useNavigate();
  const [text, setText] = useState(query);
  const [asked, setAsked] = useState(query);
  // The box of the frame leads here as well.
  if (asked !== query) {
    setAsked(query);
    setText(query);
  }
  const found = useQuery({
    queryKey: ["search", query],
    enabled: query !== "",
    queryFn: async () =>
      await valueOf(api.POST("/api/search", { body: { query, limit: 20, explain: true, learn: false } })),
  });
  return (
    <Page title="Search" about="What a model would find with these words, and why. A trial teaches the search nothing.">
      <form
        className="filters"
        role="search"
        aria-label="Trial"
        onSubmit={(event) => {
          event.preventDefault();
          void navigate({ to: "/search", search: { query: text.trim() } });
        }}
      >
        <div className="field grow">
          <label htmlFor="words">What is needed</label>
          <input id="words" type="search" value={text} onChange={({ target }) => setText(target.value)} />
        </div>
        <Button look="main" type="submit">
          Search
        </Button>
      </form>
      {query === "" && <Examples />}
      {found.isError && <FailureNote error={found.error} onRetry={() => void found.refetch()} />}
      {found.isPending && query !== "" && <Skeleton lines={5} />}
      {found.data !== undefined && <Results report={found.data} query={query} />}
    </Page>
  );
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

function Results({ report, query }: { readonly report: Report; readonly query: string }) {
  const [first] = report.queries;
  const tools = first?.tools ?? [];
  return (
    <>
      <p className="muted" role="status">
        {report.failed === null
          ? `${count(tools.length)} of ${count(first?.total_found ?? 0)} found in ${report.search_time_ms.toFixed(1)} ms by ${report.engine ?? "no engine"}; about ${count(report.answer_tokens)} tokens for a model. `
          : plain(report.failed)}
        {report.degraded !== null && plain(report.degraded)}
        <CopyButton label="Copy as command" text={`toolyard search ${JSON.stringify(query)} --explain`} />
      </p>
      {tools.length === 0 && (
        <Empty title="Nothing fits">
          <p>A model would be told the same. Other words, or a description in the configuration, may help.</p>
        </Empty>
      )}
      <ol className="hits">
        {tools.map((tool) => (
          <HitRow key={tool.tool_path} tool={tool} />
        ))}
      </ol>
      {report.unavailable_others + report.unavailable.length > 0 && (
        <p className="note warn">
          {count(report.unavailable_others + report.unavailable.length)} servers cannot be used now; the model is told
          so. <Link to="/servers">Look at them</Link>
        </p>
      )}
    </>
  );
}

function HitRow({ tool }: { readonly tool: Hit }) {
  return (
    <li>
      <div className="hit-head">
        <Link to="/run/$tool" params={{ tool: tool.tool_path }}>
          <code>{plain(tool.tool_path)}</code>
        </Link>
        <span className="muted number">distance {tool.relevance_score.toFixed(2)}</span>
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
