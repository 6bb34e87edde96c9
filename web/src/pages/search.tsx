import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useState, useSyncExternalStore } from "react";
import { degradedText } from "../../../src/kernel/degraded-text.ts";
import { api, valueOf, type Schemas } from "../api/client.ts";
import { queries, useOrder } from "../api/queries.ts";
import { sessionStore } from "../api/session.ts";
import { Button, CopyButton } from "../parts/button.tsx";
import { SelectField, TextField } from "../parts/field.tsx";
import { Page } from "../parts/page.tsx";
import { Need } from "../parts/search-need.tsx";
import { Empty, FailureNote, Skeleton } from "../parts/states.tsx";
import { TabLinks } from "../parts/tab-links.tsx";
import { count, counted, duration, plain } from "../words/format.ts";
import { toCommand } from "../words/words.ts";

type Report = Schemas["SearchReport"];
const here = getRouteApi("/search");
const KeptSearches = lazy(async () => ({ default: (await import("../parts/kept-searches.tsx")).KeptSearches }));
const tabs = [
  ["try", "Try"],
  ["kept", "Kept as tests"],
] as const;

/** What a model finds, and searches that are kept to see whether it still does. */
export function Search() {
  const { tab = "try" } = here.useSearch();
  return (
    <Page title="Search" about="What a model would find with these words, and why. A trial teaches the search nothing.">
      <TabLinks
        label="Searches"
        tabs={tabs}
        chosen={tab}
        link={(name, rest) => <Link to="/search" search={{ tab: name }} {...rest} />}
      />
      {tab === "kept" ? (
        <Suspense fallback={<Skeleton lines={5} />}>
          <KeptSearches />
        </Suspense>
      ) : (
        <Trial />
      )}
    </Page>
  );
}

/** Exactly what discover_mcp_tools answers, and why each tool stands where it does. */
function Trial() {
  const { query = "", as, limit: askedLimit } = here.useSearch();
  const limit = limitOf(askedLimit);
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
  const body = toBody(query, { as, limit });
  const found = useQuery({
    queryKey: ["search", query, as ?? "", limit],
    enabled: query !== "",
    queryFn: async () => await valueOf(api.POST("/api/search", { body: { ...body, explain: true, learn: false } })),
  });
  const hasMeaning = found.data?.meaning === "used";
  // The same by each of the two alone, to see what they add to one another.
  const alone = (only: "words" | "meaning") => ({
    queryKey: ["search", query, as ?? "", limit, only],
    enabled: query !== "" && hasMeaning,
    queryFn: async () =>
      await valueOf(api.POST("/api/search", { body: { ...body, explain: only === "words", learn: false, only } })),
  });
  const words = useQuery(alone("words"));
  const meaning = useQuery(alone("meaning"));
  const teach = useOrder(
    async () =>
      await valueOf(api.POST("/api/search", { body: { ...toBody(query, { as: undefined, limit }), learn: true } })),
    { changes: [] },
  );
  return (
    <>
      <form
        className="filters"
        role="search"
        aria-label="Trial"
        onSubmit={(event) => {
          event.preventDefault();
          const search = {
            query: text.trim(),
            ...(person.trim() === "" ? {} : { as: person.trim() }),
            ...(askedLimit === undefined ? {} : { limit: askedLimit }),
          };
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
        <SelectField
          label="Tools for each"
          choices={limits.map((one) => [one, one] as const)}
          value={String(limit)}
          onChange={({ target }) => {
            const search = { query, limit: target.value, ...(as === undefined ? {} : { as }) };
            void navigate({ to: "/search", search });
          }}
        />
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
          <Summary report={found.data} limit={limit} isOther={as !== undefined} />
          {as === undefined && (
            <div className="bar-line">
              <Button isBusy={teach.isPending || teach.isSuccess} onClick={() => teach.mutate()}>
                Learn from what I run now
              </Button>
              <p className="muted" role="status">
                {teach.isSuccess && "What you run next counts as found with these words, for your searches."}
              </p>
            </div>
          )}
          {teach.error !== null && <FailureNote error={teach.error} />}
          {words.isError && <FailureNote error={words.error} />}
          {meaning.isError && <FailureNote error={meaning.error} />}
          {found.data.queries.map((need, at) => (
            <Need
              key={at}
              need={need}
              isOnly={found.data.queries.length === 1}
              limit={limit}
              mayKeep={as === undefined}
              alone={
                hasMeaning && words.data !== undefined && meaning.data !== undefined
                  ? {
                      words: words.data.queries[at]?.tools ?? [],
                      meaning: meaning.data.queries[at]?.tools ?? [],
                      degraded: meaning.data.degraded,
                    }
                  : undefined
              }
            />
          ))}
          <Unusable report={found.data} />
        </>
      )}
    </>
  );
}

/** 10 is what a model gets that does not ask for another number; a person looks further. */
const limits = ["5", "10", "20", "50"] as const;
const usualLimit = 20;

function limitOf(asked: string | undefined): number {
  return limits.some((one) => one === asked) ? Number(asked) : usualLimit;
}

/** Each line is a need of its own, as in `queries` of discover_mcp_tools. */
function toBody(text: string, { as, limit }: { readonly as: string | undefined; readonly limit: number }) {
  const needs = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const asked = needs.length > 1 ? { queries: needs } : { query: needs[0] ?? "" };
  return { ...asked, limit, ...(as === undefined ? {} : { as }) };
}

const examples = 4;

/** Made of what is there: descriptions of tools, in a few words. */
function Examples() {
  const { data = [], isSuccess } = useQuery(queries.tools);
  if (isSuccess && data.length === 0)
    return (
      <Empty title="No server offers a tool yet, so that nothing can be found">
        <p>
          <Link to="/start">Bring the servers you already have</Link>, or <Link to="/servers">look at those</Link> that
          are configured.
        </p>
      </Empty>
    );
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

/** Most take less than a millisecond or two. */
function searchTime(ms: number): string {
  return ms < 10 ? `${ms.toFixed(1)} ms` : duration(ms);
}

interface SummaryProps {
  readonly report: Report;
  readonly limit: number;
  /** Whether it is what somebody else would find. */
  readonly isOther: boolean;
}

function Summary({ report, limit, isOther }: SummaryProps) {
  const [only, ...further] = report.queries;
  const found = report.queries.reduce((sum, { tools }) => sum + tools.length, 0);
  const total = report.queries.reduce((sum, need) => sum + need.total_found, 0);
  return (
    <p className="muted" role="status">
      {report.failed === null
        ? `${count(found)} of ${count(total)} found in ${searchTime(report.search_time_ms)} by ${report.engine ?? "no engine"}${report.meaning === "used" ? " and embeddings" : ""}; about ${count(report.answer_tokens)} tokens for a model. `
        : plain(report.failed)}
      {report.degraded !== null && `Found ${plain(degradedText(report.degraded))}. `}
      {only !== undefined && further.length === 0 && !isOther && (
        <CopyButton
          label="Copy as command"
          text={toCommand("search", [only.query], { explain: true, limit: String(limit) })}
        />
      )}
    </p>
  );
}

function Unusable({ report }: { readonly report: Report }) {
  const missing = report.unavailable_others + report.unavailable.length;
  if (missing === 0) return null;
  return (
    <div className="note warn">
      <div>
        <p>
          {counted(missing, "server")} cannot be used now; the model is told so. <Link to="/servers">Look at them</Link>
        </p>
        {report.unavailable.length > 0 && (
          <ul aria-label="What the model is told of servers that may have been meant">
            {report.unavailable.map(({ server, reason, action }) => (
              <li key={server}>
                <Link to="/servers/$server" params={{ server }}>
                  {plain(server)}
                </Link>
                : {plain(reason)} {plain(action)}
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  );
}
