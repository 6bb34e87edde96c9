/**
 * Other gateways and forwarders that install from npm, so that anybody can run the same beside ours. To add one, add a
 * row: how it is started, and where its MCP endpoint is.
 */
export interface Peer {
  readonly name: string;
  /** On npm; undefined for what is in this repository. */
  readonly package: string | undefined;
  readonly about: string;
  /** Whether it serves several servers in one endpoint. The others forward one. */
  readonly isGateway: boolean;
  readonly transport: "http" | "sse";
  /** Arguments of `node`, after the program's file: `command` is what starts the only server, for forwarders. */
  args(given: {
    readonly port: number;
    readonly configFile: string;
    readonly command: readonly string[];
  }): readonly string[];
  readonly path: string;
  /** The name of a server's tool as it lists it. */
  toolName(server: string, tool: string): string;
}

export const peers: readonly Peer[] = [
  {
    name: "mcp-hub",
    package: "mcp-hub",
    about: "a gateway: all servers in one endpoint, every tool in the list",
    isGateway: true,
    transport: "sse",
    args: ({ port, configFile }) => ["--port", String(port), "--config", configFile],
    path: "/mcp",
    toolName: (server, tool) => `${server}__${tool}`,
  },
  {
    name: "mcp-proxy",
    package: "mcp-proxy",
    about: "a forwarder: one stdio server over HTTP",
    isGateway: false,
    transport: "http",
    args: ({ port, command }) => [
      "--port",
      String(port),
      "--host",
      "127.0.0.1",
      "--server",
      "stream",
      "--",
      ...command,
    ],
    path: "/mcp",
    toolName: (_server, tool) => tool,
  },
  {
    name: "supergateway",
    package: "supergateway",
    about: "a forwarder: one stdio server over HTTP",
    isGateway: false,
    transport: "http",
    args: ({ port, command }) => [
      ...["--stdio", command.map((word) => JSON.stringify(word)).join(" ")],
      ...["--outputTransport", "streamableHttp", "--stateful", "--logLevel", "none", "--port", String(port)],
    ],
    path: "/mcp",
    toolName: (_server, tool) => tool,
  },
];
