import { readFileSync } from "node:fs";
import type { Corpus } from "../retrieval/data.ts";
import type { Asked } from "./share-found.ts";

/** Questions as people type them, each with a tool that does it; written before any text was measured with them. */
const questions: readonly (readonly [relevant: string, query: string])[] = [
  ["filesystem:read_text_file", "show me what's in config.yaml"],
  ["filesystem:write_file", "save this summary to notes.txt"],
  ["filesystem:list_directory", "which files are in my Downloads folder"],
  ["filesystem:move_file", "rename draft.md to final.md"],
  ["filesystem:search_files", "find every markdown file below docs"],
  ["filesystem:create_directory", "make a new directory called archive"],
  ["filesystem:directory_tree", "print the tree of the project directory"],
  ["git:git_commit", "commit the staged changes with a message"],
  ["git:git_log", "show the last ten commits"],
  ["git:git_branch", "create a branch for the login fix"],
  ["git:git_diff", "what did I change since the last commit"],
  ["git:git_stash", "put my local changes aside for now"],
  ["git:git_blame", "who wrote line 40 of server.ts"],
  ["git:git_tag", "tag this version as v2.1.0"],
  ["github:create_issue", "file a bug in our GitHub project"],
  ["github:create_pull_request", "open a pull request from my branch"],
  ["github:merge_pull_request", "merge PR 42"],
  ["github:search_repositories", "find public repositories about vector databases"],
  ["github:add_issue_comment", "comment on issue 17 that it is fixed"],
  ["github:get_pull_request_reviews", "has anybody reviewed my pull request"],
  ["github:list_issues", "list open issues assigned to me"],
  ["github:fork_repository", "fork this repo into my account"],
  ["memory:create_entities", "remember that Ada works at Initech"],
  ["memory:search_nodes", "what do you know about Ada in the knowledge graph"],
  ["memory:create_relations", "add a relation between two entities"],
  ["memory:delete_observations", "forget the observation about my old address"],
  ["notion:API-post-page", "create a page in Notion with the meeting notes"],
  ["notion:API-post-search", "search my Notion workspace for the roadmap"],
  ["notion:API-query-data-source", "list the rows of the tasks database"],
  ["notion:API-create-a-comment", "leave a comment on the design page"],
  ["notion:API-update-a-block", "change the text of this block"],
  ["playwright:browser_take_screenshot", "take a screenshot of the page"],
  ["playwright:browser_navigate", "navigate the browser to example.com"],
  ["playwright:browser_fill_form", "fill in the form and submit it"],
  ["playwright:browser_tabs", "list the open browser tabs"],
  ["chrome-devtools:performance_start_trace", "record a performance trace of the page"],
  ["chrome-devtools:lighthouse_audit", "run a lighthouse audit"],
  ["chrome-devtools:list_network_requests", "list the network requests of the page"],
  ["chrome-devtools:take_heapsnapshot", "take a heap snapshot"],
  ["everything:get-sum", "sum of two numbers"],
  ["context7:query-docs", "look up documentation of a library"],
];

/** Ten servers' real definitions, five of them behind the gateway: for machines without the large corpus, and tests. */
export function smallSet(): Asked {
  const file = new URL("../../test/servers/public-tools.json", import.meta.url);
  return {
    tools: (JSON.parse(readFileSync(file, "utf8")) as Corpus).tools,
    questions: questions.map(([relevant, query]) => ({ id: relevant, query, relevant: [relevant] })),
    behind: ["filesystem", "git", "github", "memory", "notion"],
  };
}
