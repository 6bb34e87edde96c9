// Servers of other authors; the form of a row is in server-rows.mjs.

const key = "placeholder";

/** @type {readonly import("./server-rows.mjs").ServerRow[]} */
export const authorRows = [
  { package: "@agent-infra/mcp-server-commands", version: "1.2.18", call: ["run_command", { command: "echo hello" }] },
  {
    package: "@agent-infra/mcp-server-filesystem",
    version: "1.2.29",
    args: ["--allowed-directories", "{home}"],
    call: ["read_file", { path: "{home}/files/notes.txt" }],
  },
  {
    package: "@allpepper/memory-bank-mcp",
    version: "0.2.2",
    env: { MEMORY_BANK_ROOT: "{home}/files" },
    call: ["list_projects", {}],
  },
  {
    package: "@antv/mcp-server-chart",
    version: "0.9.10",
    call: ["generate_pie_chart", { data: [{ category: "one", value: 1 }] }],
  },
  {
    package: "@brave/brave-search-mcp-server",
    version: "2.1.4",
    env: { BRAVE_API_KEY: key },
    call: ["brave_web_search", { query: "nothing" }],
  },
  { package: "@browsermcp/mcp", version: "0.1.3", call: ["browser_snapshot", {}] },
  { package: "@coo-quack/calc-mcp", version: "2.1.1", call: ["hash", { input: "hello", algorithm: "sha256" }] },
  {
    package: "@cyanheads/git-mcp-server",
    version: "2.15.3",
    sdk: "@modelcontextprotocol/sdk in its bundle",
    env: { LOGS_DIR: "{home}/logs" },
    call: ["git_status", { path: "{home}/repository" }],
  },
  { package: "@drawio/mcp", version: "1.6.1", call: ["search_shapes", { query: "database" }] },
  { package: "@eslint/mcp", version: "0.3.13", call: ["lint-files", { filePaths: ["{home}/files/none.js"] }] },
  {
    package: "@executeautomation/playwright-mcp-server",
    version: "1.0.12",
    call: ["clear_codegen_session", { sessionId: "none" }],
  },
  { package: "@heroui/react-mcp", version: "1.1.2", needsNewerNode: true, call: ["get_theme_variables", {}] },
  { package: "@hyperdrive-eng/mcp-nodejs-debugger", version: "0.2.2", call: ["list_breakpoints", {}] },
  {
    package: "@itseasy21/mcp-knowledge-graph",
    version: "1.0.7",
    args: ["--memory-path", "{home}/graph.jsonl"],
    call: ["read_graph", {}],
  },
  { package: "@jpisnice/shadcn-ui-mcp-server", version: "2.0.0", call: ["list_themes", {}] },
  { package: "@kazuph/mcp-taskmanager", version: "1.1.1", call: ["list_requests", {}] },
  {
    package: "@mapbox/mcp-server",
    version: "0.2.0",
    env: { MAPBOX_ACCESS_TOKEN: "pk.eyJ1IjoicGxhY2Vob2xkZXIifQ.placeholder" },
    call: ["ReverseGeocodeTool", { longitude: 1, latitude: 1 }],
  },
  { package: "@mastra/mcp-docs-server", version: "0.13.31", call: ["mastraChanges", { package: "@mastra/core" }] },
  { package: "@mui/mcp", version: "0.1.5", call: ["fetchDocs", { urls: [] }] },
  {
    package: "@negokaz/excel-mcp-server",
    version: "0.12.0",
    sdk: "mcp-go 0.34.0 (Go)",
    call: ["excel_describe_sheets", { fileAbsolutePath: "{home}/files/none.xlsx" }],
  },
  {
    package: "@notionhq/notion-mcp-server",
    version: "2.5.2",
    env: { NOTION_TOKEN: key },
    call: ["API-get-self", {}],
  },
  {
    package: "@playwright/mcp",
    version: "0.0.83",
    sdk: "@modelcontextprotocol/sdk in playwright-core",
    call: ["browser_close", {}],
  },
  { package: "@primevue/mcp", version: "5.0.1", needsNewerNode: true, call: ["version", {}] },
  {
    package: "@sylphx/pdf-reader-mcp",
    version: "2.4.0",
    needsNewerNode: true,
    call: ["read_pdf", { sources: [{ path: "none.pdf" }] }],
  },
  {
    package: "@upstash/context7-mcp",
    version: "4.1.1",
    call: ["query-docs", { libraryId: "/none/none", query: "nothing" }],
  },
  {
    package: "@wonderwhy-er/desktop-commander",
    version: "0.2.52",
    args: ["--no-onboarding"],
    call: ["list_directory", { path: "{home}/files" }],
  },
  {
    package: "firecrawl-mcp",
    version: "3.26.0",
    needsNewerNode: true,
    env: { FIRECRAWL_API_KEY: key },
    call: ["firecrawl_scrape", { url: "http://127.0.0.1:9" }],
  },
  {
    package: "mcp-echarts",
    version: "0.7.1",
    call: ["generate_echarts", { echartsOption: '{"series":[]}', outputType: "option" }],
  },
  { package: "mcp-hello-world", version: "1.1.2", call: ["add", { a: 2, b: 40 }] },
  {
    package: "mcp-mermaid",
    version: "0.4.1",
    call: ["generate_mermaid_diagram", { mermaid: "graph TD; A-->B", outputType: "mermaid" }],
  },
  {
    package: "mcp-server-code-runner",
    version: "0.1.8",
    call: ["run-code", { code: "console.log(6 * 7)", languageId: "javascript" }],
  },
  {
    package: "mcp-shrimp-task-manager",
    version: "1.0.21",
    env: { DATA_DIR: "{home}/tasks" },
    call: ["list_tasks", { status: "all" }],
  },
  { package: "next-devtools-mcp", version: "0.4.0", call: ["nextjs_call", {}] },
  { package: "time-mcp", version: "1.0.6", call: ["days_in_month", { date: "2026-02-01" }] },
];
