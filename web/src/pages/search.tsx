import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { api, valueOf } from "../api/client.ts";
import { queries, useOrder } from "../api/queries.ts";
import { Button } from "../parts/basic/button.tsx";
import { Page } from "../parts/page.tsx";
import { detailOf, limitOf, SearchForm } from "../parts/search/search-form.tsx";
import { Need } from "../parts/search/search-need.tsx";
import { ModelAnswer, Summary, Unusable } from "../parts/search/search-summary.tsx";
import { Empty, FailureNote, Skeleton } from "../parts/basic/states.tsx";
import { TabLinks } from "../parts/basic/tab-links.tsx";
import { plain } from "../words/format.ts";

const here = getRouteApi("/search");
const KeptSearches = lazy(async () => ({ default: (await import("../parts/search/kept-searches.tsx")).KeptSearches }));
const tabs = [
  ["try", "Try"],
  ["kept", "Kept as tests"],
] as const;

/** What a model finds, and searches that are kept to see whether it still does. */
export function Search() {
  const { tab = "try" } = here.useSearch();
  return (
    <Page
      title="Search"
      about="What a model would find with these words, and why. The search does not learn from trials."
    >
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

/** Exactly what discover_mcp_tools answers, and why each tool has its rank. */
function Trial() {
  const { query = "", as, limit: askedLimit, detail: askedDetail } = here.useSearch();
  const limit = limitOf(askedLimit);
  const detail = detailOf(askedDetail);
  const navigate = useNavigate();
  const [text, setText] = useState(query);
  const [asked, setAsked] = useState(query);
  // The box of the frame leads here as well.
  if (asked !== query) {
    setAsked(query);
    setText(query);
  }
  const body = { ...toBody(query, { as, limit }), detail };
  const found = useQuery({
    queryKey: ["search", query, as ?? "", limit, detail],
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
      <SearchForm
        text={text}
        onText={setText}
        asked={{ as, limit: askedLimit, detail: askedDetail }}
        onSearch={(search) => {
          teach.reset();
          void navigate({ to: "/search", search: { query: text.trim(), ...search } });
        }}
        onChoose={(search) => void navigate({ to: "/search", search: { query, ...search } })}
      />
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
                {teach.isSuccess &&
                  "The next tool that you run counts as found with these words, in your own searches."}
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
          <ModelAnswer report={found.data} isOpen={askedDetail !== undefined} />
        </>
      )}
    </>
  );
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

/** Made from the present tools: their descriptions, in a few words. */
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
    <Empty title="Describe the need in a person's own words">
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
