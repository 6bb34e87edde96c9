import { createHash } from "node:crypto";
import type { CorpusTool, DevQuery } from "../retrieval/data.ts";
import { claudeSearch, codexSearch, keyWords, type ClientSearch, type ClientTool } from "./client-searches.ts";
import type { ToldClient } from "./told-client.ts";

/** What is asked of which tools. */
export interface Asked {
  readonly tools: readonly CorpusTool[];
  readonly questions: readonly DevQuery[];
  /** Servers that are behind the gateway. Others are beside it. */
  readonly behind: readonly string[];
}

/** How many questions of how many found what they should among the first five. */
export interface Share {
  readonly found: number;
  readonly of: number;
}

export interface Surfacing {
  /** Questions for tools behind the gateway, and discover_mcp_tools. */
  readonly codex: Share;
  readonly claude: Share;
  /** As `claude`, where the model types the words that mean something. */
  readonly claudeWords: Share;
  /** Questions for tools beside the gateway, and the right one of these: with our tools in the list, and without. */
  readonly beside: Share;
  readonly besideAlone: Share;
}

const shownTools = 5;
/** Of one server, so that none is most of what is beside the gateway. */
const toolsOfServer = 60;

/** Puts what clients were told among at most `others` tools of other servers, and asks the clients' searches. */
export function measureSurfacing(
  { tools, questions, behind }: Asked,
  told: { readonly codex: ToldClient; readonly claude: ToldClient },
  others: number,
): Surfacing {
  const crowd = toolsBeside(tools, behind, others);
  const inCrowd = new Set(crowd.map(({ id }) => id));
  const isBehind = (id: string): boolean => behind.includes(id.slice(0, id.indexOf(":")));
  const ours = questions.filter(({ relevant }) => relevant.some(isBehind) && !relevant.some((id) => inCrowd.has(id)));
  const theirs = questions.filter(({ relevant }) => relevant.some((id) => inCrowd.has(id)) && !relevant.some(isBehind));
  const among = ({ instructions, tools: own }: ToldClient): readonly ClientTool[] => [
    ...crowd,
    ...own.map((tool) => ({ ...tool, server: "toolyard", instructions })),
  ];
  const count = (list: readonly DevQuery[], finds: (question: DevQuery) => boolean): Share => ({
    found: list.filter(finds).length,
    of: list.length,
  });
  const asCodex = among(told.codex);
  const codex = codexSearch(asCodex);
  const asClaude = among(told.claude);
  const claude = claudeSearch(asClaude);
  const alone = codexSearch(crowd);
  const right = (search: ClientSearch, { query, relevant }: DevQuery): boolean =>
    first(search, query).some((at) => relevant.includes(crowd[at]?.id ?? ""));
  const isFind = (list: readonly ClientTool[], search: ClientSearch, query: string): boolean =>
    first(search, query).some((at) => list[at]?.name === "discover_mcp_tools");
  return {
    codex: count(ours, ({ query }) => isFind(asCodex, codex, query)),
    claude: count(ours, ({ query }) => isFind(asClaude, claude, query)),
    claudeWords: count(ours, ({ query }) => isFind(asClaude, claude, keyWords(query))),
    beside: count(theirs, (question) => right(codex, question)),
    besideAlone: count(theirs, (question) => right(alone, question)),
  };
}

const first = (search: ClientSearch, query: string): readonly number[] => search(query).slice(0, shownTools);

/** Whole servers in a fixed order that has nothing to do with their names, none of which is like one behind. */
function toolsBeside(tools: readonly CorpusTool[], behind: readonly string[], most: number): readonly CorpusTool[] {
  const isAlike = (server: string): boolean => behind.some((one) => server.includes(one) || one.includes(server));
  const servers = [...new Set(tools.map(({ server }) => server))].filter((server) => !isAlike(server));
  const key = (server: string): string => createHash("sha256").update(server).digest("hex");
  return servers
    .toSorted((one, other) => (key(one) < key(other) ? -1 : 1))
    .flatMap((server) => tools.filter((tool) => tool.server === server).slice(0, toolsOfServer))
    .slice(0, most);
}
