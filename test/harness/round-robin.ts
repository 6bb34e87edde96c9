import { once } from "node:events";
import { Agent, createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { until } from "./until.ts";

/** A load balancer without stickiness: each request goes to the next of the addresses, whichever session it is of. */
export interface RoundRobin extends AsyncDisposable {
  readonly url: string;
  /** Requests that each address was given. */
  readonly given: ReadonlyMap<string, number>;
  add(address: string): void;
  /** Gives it nothing from now on; resolves when it has answered what it was given. Streams of GET are cut off. */
  drain(address: string): Promise<void>;
}

export async function startRoundRobin(...first: readonly string[]): Promise<RoundRobin> {
  const addresses = [...first];
  const given = new Map<string, number>();
  const open = new Map<ServerResponse, { readonly address: string; readonly isStream: boolean }>();
  const agent = new Agent({ keepAlive: true, timeout: 1_000 });
  let next = 0;

  function pass(request: IncomingMessage, response: ServerResponse): void {
    next += 1;
    const address = addresses[next % addresses.length];
    if (address === undefined) return void response.writeHead(503).end();
    given.set(address, (given.get(address) ?? 0) + 1);
    open.set(response, { address, isStream: request.method === "GET" });
    response.once("close", () => open.delete(response));
    const { method, headers } = request;
    const { host } = new URL(address);
    const behind = httpRequest(new URL(request.url ?? "/", address), { method, headers: { ...headers, host }, agent });
    behind.on("response", (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(response);
      answer.on("error", () => response.destroy());
    });
    behind.on("error", () => response.destroy());
    response.once("close", () => behind.destroy());
    request.pipe(behind);
  }

  const server = createServer(pass).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    given,
    add: (address) => void addresses.push(address),
    async drain(address) {
      addresses.splice(addresses.indexOf(address), 1);
      const of = () => [...open].filter(([, one]) => one.address === address);
      for (const [response, { isStream }] of of()) if (isStream) response.destroy();
      await until(() => of().length === 0);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      agent.destroy();
      await once(server, "close");
    },
  };
}
