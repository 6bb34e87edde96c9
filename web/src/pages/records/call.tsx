import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { api, valueOf, type Schemas } from "../../api/client.ts";
import { keepArguments } from "../../api/typed-arguments.ts";
import { Facts, type Fact } from "../../parts/basic/facts.tsx";
import { Page, Section } from "../../parts/page.tsx";
import { Empty, LoadedPage } from "../../parts/basic/states.tsx";
import { indentJson } from "../../words/text/exact-json.ts";
import { count, duration, fullTime, plain } from "../../words/format.ts";

const here = getRouteApi("/calls/$id");

/** One call, with what was said in it where that was kept. */
export function Call() {
  const { id } = here.useParams();
  const call = useQuery({
    queryKey: ["call", id],
    queryFn: async () => await valueOf(api.GET("/api/calls/{id}", { params: { path: { id } } })),
  });
  return (
    <LoadedPage query={call} title="Call">
      {(found) => <Shown call={found} />}
    </LoadedPage>
  );
}

const contentWords: Readonly<Record<Schemas["CallDetails"]["contents"], string>> = {
  shown: "",
  "not-kept": 'Arguments and result were not kept: the server\'s entry would need requestLogging: "full".',
  "not-yours": "Arguments and result are shown only to the caller.",
};

function Shown({ call }: { readonly call: Schemas["CallDetails"] }) {
  const facts: readonly Fact[] = [
    ["Outcome", call.outcome === "ok" ? "ok" : `${call.outcome} ${call.code ?? ""}`],
    ["Ended", fullTime(call.time)],
    ["Duration", duration(call.durationMs)],
    ["Waited before", duration(call.waitMs)],
    ["Who", call.user ?? call.principal],
    ["Client", call.client ?? "does not say"],
    ["Way", `${call.via}, ${call.method}`],
    ["Instance", call.instance],
    ["Tokens of arguments", `about ${count(call.argumentTokens)}`],
    ["Tokens of the result", `about ${count(call.resultTokens)}${call.isResultCut ? ", cut to fit its budget" : ""}`],
    ...(call.node === undefined ? [] : [["Served by node", call.node] as const]),
    ...(call.serverNode === undefined ? [] : [["Server ran at node", call.serverNode] as const]),
    ...(call.traceId === undefined ? [] : [["Trace", call.traceId] as const]),
  ];
  // As they were sent, to be looked at before they are sent again.
  const given = call.body === null || call.body.areArgumentsCut ? undefined : readable(call.body.arguments);
  return (
    <Page
      title={plain(call.name)}
      about={<Link to="/calls">All calls</Link>}
      actions={
        call.method === "tools/call" && (
          <Link
            className="button"
            to="/run/$tool"
            params={{ tool: call.name }}
            onClick={() => given !== undefined && keepArguments(call.name, given)}
          >
            {given === undefined ? "Run this tool" : "Run it again"}
          </Link>
        )
      }
    >
      <div className="columns run">
        <Section title="Call">
          <Facts facts={facts} />
        </Section>
        <div>
          {call.contents !== "shown" && (
            <Empty title="Without arguments and result">
              <p>{contentWords[call.contents]}</p>
            </Empty>
          )}
          {call.body !== null && (
            <>
              <Section title="Arguments" about={call.body.areArgumentsCut ? "only the beginning" : ""}>
                <pre tabIndex={0} className="wrap">
                  {plain(readable(call.body.arguments))}
                </pre>
              </Section>
              <Section title="Result" about={call.body.isResultCut ? "only the beginning" : ""}>
                <pre tabIndex={0} className="wrap">
                  {plain(readable(call.body.result))}
                </pre>
              </Section>
            </>
          )}
        </div>
      </div>
    </Page>
  );
}

/** On lines of its own, unless it was cut, or is no JSON. Numbers stay as they were written. */
function readable(text: string): string {
  try {
    JSON.parse(text);
    return indentJson(text);
  } catch {
    return text;
  }
}
