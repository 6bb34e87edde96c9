// Programs of other languages that npm has as they were built; the form of a row is in server-rows.mjs.

/** @type {readonly import("./server-rows.mjs").ServerRow[]} */
export const nativeRows = [
  {
    package: "@azure/mcp-linux-x64",
    version: "2.0.5",
    file: "dist/azmcp",
    args: ["server", "start"],
    sdk: "C# SDK",
    call: ["azureterraformbestpractices", { intent: "list" }],
  },
  {
    package: "@git-library/mcp-linux-x64",
    version: "1.2.3",
    file: "bin/git-library-mcp",
    sdk: "rmcp (Rust)",
    call: ["list_libraries", {}],
  },
  {
    package: "@leanspec/mcp-linux-x64",
    version: "0.3.0",
    file: "leanspec-mcp",
    sdk: "written by hand (Rust)",
    call: ["get_stats", {}],
  },
  {
    package: "@temporal-cortex/cortex-mcp-linux-x64",
    version: "0.9.1",
    file: "bin/cortex-mcp",
    sdk: "rmcp (Rust)",
    call: ["compute_duration", { start: "2026-01-01T00:00:00Z", end: "2026-01-02T00:00:00Z" }],
  },
  {
    package: "@vaulttools/mcp-linux-x64",
    version: "0.1.7",
    file: "bin/vaulttools-mcp",
    args: ["--allowed-dir", "{home}"],
    sdk: "rmcp (Rust)",
    call: ["none", {}],
  },
  {
    package: "kubernetes-mcp-server",
    version: "0.0.67",
    args: ["--kubeconfig", "{home}/kubeconfig"],
    sdk: "Go SDK",
    call: ["configuration_view", {}],
  },
  {
    package: "mcp-alertmanager-linux-amd64",
    version: "2.1.1",
    file: "bin/mcp-alertmanager-linux-amd64",
    args: ["--alertmanager-url", "http://127.0.0.1:9"],
    sdk: "Go",
    call: ["none", {}],
  },
  {
    package: "mcp-prometheus-linux-amd64",
    version: "2.1.1",
    file: "bin/mcp-prometheus-linux-amd64",
    args: ["--prometheus-url", "http://127.0.0.1:9"],
    sdk: "Go",
    call: ["none", {}],
  },
  {
    package: "mcp-time-linux-x64",
    version: "0.4.0",
    file: "bin/mcp-time",
    sdk: "Go",
    call: ["add_time", { time: "2026-01-01T00:00:00Z", duration: "1h" }],
  },
];
