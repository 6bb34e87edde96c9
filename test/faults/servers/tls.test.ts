import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startGateway } from "../../harness/gateway.ts";
import { rpc } from "../../harness/rpc.ts";
import { until } from "../../harness/until.ts";

// A key for tests only: nobody else has reason to trust its certificate.
const file = (name: string): string => fileURLToPath(new URL(`../../servers/tls/${name}`, import.meta.url));
let server: Server;
let connections = 0;

/** A legacy server without sessions, over TLS; answers in chunks. */
beforeAll(async () => {
  server = createServer(
    { key: readFileSync(file("key.pem")), cert: readFileSync(file("certificate.pem")) },
    (request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => {
        const message =
          body === "" ? {} : (JSON.parse(body) as { id?: number; method?: string; params?: { arguments?: object } });
        const result = results[message.method ?? ""];
        if (request.method !== "POST" || (message.id !== undefined && result === undefined))
          response.writeHead(405).end();
        else if (message.id === undefined) response.writeHead(202).end();
        else {
          response.setHeader("Content-Type", "application/json");
          response.write(`{"jsonrpc":"2.0","id":${message.id},`);
          response.end(`"result":${JSON.stringify(result?.(message.params?.arguments))}}`);
        }
      });
    },
  );
  server.on("secureConnection", () => (connections += 1));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(() => server.close().closeAllConnections());

const results: Readonly<Record<string, (args: unknown) => object>> = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "tls", version: "1" },
  }),
  "tools/list": () => ({ tools: [{ name: "echo", inputSchema: { type: "object" } }] }),
  "tools/call": (args) => ({ content: [{ type: "text", text: JSON.stringify(args) }] }),
};

const call = (gateway: string, text: string) =>
  rpc(`${gateway}/mcp`, "tools/call", {
    name: "execute_mcp_tool",
    arguments: { tool_path: "tls:echo", arguments: { text } },
  });
const config = () => ({
  mcpServers: { tls: { type: "http", url: `https://localhost:${(server.address() as AddressInfo).port}/mcp` } },
  toolyard: { results: { maxTokens: 0 } },
});

test("a server over TLS is called over connections that are kept", async () => {
  await using gateway = await startGateway({ config: config(), env: { NODE_EXTRA_CA_CERTS: file("certificate.pem") } });
  await until(async () => (await call(gateway.url, "up")).text.includes("up"));
  const before = connections;
  const long = "ü".repeat(200_000);
  for (const text of ["one", long, "three"])
    expect(JSON.parse((await call(gateway.url, text)).json.result.content[0].text)).toEqual({ text });
  expect(connections).toBe(before);
});

test("a server whose certificate nobody vouches for is not talked to", async () => {
  await using gateway = await startGateway({ config: config() });
  const answer = await until(async () => {
    const { json } = await call(gateway.url, "secret");
    return json.result?.isError === true && /CERT/.test(JSON.stringify(json)) ? json : undefined;
  });
  expect(JSON.stringify(answer)).toContain("DEPTH_ZERO_SELF_SIGNED_CERT");
});
