// The servers that are tried, each with one call that changes nothing and needs neither a network nor an account. Where
// a server asks for a key before it lists anything, it gets one that opens nothing.

/**
 * `{home}` in texts is a folder of the trial's own with a file, `notes.txt`, and a git repository in `repository`.
 * @typedef {object} ServerRow
 * @property {string} package as npm calls it
 * @property {string} version
 * @property {[tool: string, args: object]} call
 * @property {string[]} [args]
 * @property {Record<string, string>} [env]
 * @property {string} [file] the program in the package, for one without a command
 * @property {string} [sdk] for a server whose dependencies do not say it
 * @property {boolean} [needsNewerNode] whether it needs a newer Node than the gateway does
 * @property {object} [capabilities] what the direct client says it can do, for a server that offers more to some
 * @property {import("./differences.mjs").Volatile} [volatile] what of its answers is never the same twice
 */

const key = "placeholder";
const asksClients = { sampling: {}, elicitation: { form: {}, url: {} } };
const app = (name, version, call, volatile = []) => ({
  package: `@modelcontextprotocol/server-${name}`,
  version,
  args: ["--stdio"],
  call,
  volatile,
});

/** @type {readonly ServerRow[]} */
export const referenceRows = [
  {
    package: "@modelcontextprotocol/server-everything",
    version: "2026.8.31",
    call: ["echo", { message: "hello" }],
    capabilities: asksClients,
  },
  { package: "@modelcontextprotocol/server-memory", version: "2026.8.31", call: ["read_graph", {}] },
  {
    package: "@modelcontextprotocol/server-filesystem",
    version: "2026.8.31",
    args: ["{home}"],
    call: ["list_directory", { path: "{home}/files" }],
  },
  {
    package: "@modelcontextprotocol/server-sequential-thinking",
    version: "2026.8.31",
    call: ["sequentialthinking", { thought: "one", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 }],
    // It counts what it has heard since it was started.
    volatile: [/"thoughtHistoryLength": \d+/, "thoughtHistoryLength"],
  },
  {
    package: "@modelcontextprotocol/server-github",
    version: "2025.4.8",
    env: { GITHUB_PERSONAL_ACCESS_TOKEN: key },
    call: ["search_users", { q: "nobody" }],
  },
  {
    package: "@modelcontextprotocol/server-gitlab",
    version: "2025.4.25",
    env: { GITLAB_PERSONAL_ACCESS_TOKEN: key },
    call: ["search_repositories", { search: "nothing" }],
  },
  {
    package: "@modelcontextprotocol/server-slack",
    version: "2025.4.25",
    env: { SLACK_BOT_TOKEN: key, SLACK_TEAM_ID: key },
    call: ["slack_get_users", {}],
  },
  {
    package: "@modelcontextprotocol/server-google-maps",
    version: "0.6.2",
    env: { GOOGLE_MAPS_API_KEY: key },
    call: ["maps_geocode", { address: "nowhere" }],
  },
  {
    package: "@modelcontextprotocol/server-brave-search",
    version: "0.6.2",
    env: { BRAVE_API_KEY: key },
    call: ["brave_web_search", { query: "nothing" }],
    // It allows itself one request a second.
    volatile: [/fetch failed|Rate limit exceeded/],
  },
  {
    package: "@modelcontextprotocol/server-postgres",
    version: "0.6.2",
    args: ["postgresql://127.0.0.1:9/none"],
    call: ["query", { sql: "select 1" }],
  },
  {
    package: "@modelcontextprotocol/server-puppeteer",
    version: "2025.5.12",
    env: { PUPPETEER_SKIP_DOWNLOAD: "1" },
    call: ["puppeteer_click", { selector: "none" }],
  },
  app("basic-vanillajs", "2.0.3", ["get-time", {}], [/\d{4}-\d\d-\d\dT[\d:.]+Z/]),
  app("budget-allocator", "2.0.3", ["get-budget-data", {}]),
  app("cohort-heatmap", "2.0.3", ["get-cohort-data", {}], ["text", "structuredContent"]),
  app("customer-segmentation", "2.0.3", ["get-customer-data", {}], ["text", "structuredContent"]),
  app("scenario-modeler", "2.0.3", ["get-scenario-data", {}]),
  app("sheet-music", "2.0.3", ["play-sheet-music", {}]),
  app("threejs", "2.0.3", ["learn_threejs", {}]),
  app("pdf", "2.0.4", ["list_pdfs", {}]),
];
