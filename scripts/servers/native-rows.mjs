// Programs of other languages that npm has as they were built; the form of a row is in server-rows.mjs.

/** @type {readonly import("./server-rows.mjs").ServerRow[]} */
export const nativeRows = [
  {
    package: "@azure/mcp-linux-x64",
    version: "2.0.5",
    file: "dist/azmcp",
    args: ["server", "start"],
    sdk: "C# SDK",
    call: ["azureterraformbestpractices", { intent: "list", learn: true }],
  },
  {
    package: "@git-library/mcp-linux-x64",
    version: "1.2.3",
    file: "bin/git-library-mcp",
    sdk: "unknown, in its binary",
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
    sdk: "rmcp 1.1.1 (Rust)",
    call: ["compute_duration", { start: "2026-01-01T00:00:00Z", end: "2026-01-02T00:00:00Z" }],
  },
  {
    package: "@vaulttools/mcp-linux-x64",
    version: "0.1.7",
    file: "bin/vaulttools-mcp",
    args: ["--allowed-dir", "{home}"],
    sdk: "rmcp 0.16.0 (Rust)",
    call: ["vaulttools_dev_color_convert", { color: "#ff0000", to_format: "rgb" }],
  },
  {
    package: "kubernetes-mcp-server",
    version: "0.0.67",
    args: ["--kubeconfig", "{home}/kubeconfig"],
    sdk: "Go SDK 1.8.0",
    call: ["configuration_view", {}],
  },
  {
    package: "mcp-alertmanager-linux-amd64",
    version: "2.1.1",
    file: "bin/mcp-alertmanager-linux-amd64",
    args: ["--url", "http://127.0.0.1:9"],
    sdk: "Go SDK 1.2.0",
    call: ["getReceivers", {}],
  },
  {
    package: "mcp-prometheus-linux-amd64",
    version: "2.1.1",
    file: "bin/mcp-prometheus-linux-amd64",
    args: ["--url", "http://127.0.0.1:9"],
    sdk: "Go SDK 1.2.0",
    call: ["getTargets", {}],
  },
  {
    package: "mcp-time-linux-x64",
    version: "0.4.0",
    file: "bin/mcp-time",
    sdk: "mcp-go 0.33.0 (Go)",
    // The formats are named in the order of a Go map.
    volatile: [/(?<=## Predefined Formats)[^]*?(?=\n## |$)/],
    call: ["add_time", { time: "2026-01-01T00:00:00Z", duration: "1h" }],
  },
];
