import { connect, type Server, type Socket } from "node:net";
import { createAddressRules } from "../../logins/protocol/addresses.ts";
import type { DeniedReach } from "../../upstream/connection.ts";
import type { AllowedNames } from "./allowed-names.ts";
import { hostIn } from "./first-bytes.ts";
import { readQuestion, writeAnswer } from "./name-questions.ts";
import type { NamespaceSockets } from "./namespace-sockets.ts";

export interface EgressDeps {
  readonly names: AllowedNames;
  readonly onDenied: (denied: DeniedReach) => void;
  /** A connection to a host was made; `host` is what allows no more than that in `sandbox.network`. */
  readonly onReached: (host: string) => void;
}

/** Names that have an address of the sandbox at a time. Beyond it, the one that was used longest ago loses it. */
const mostNames = 4_096;
const mostConnections = 512;
/** How long a connection may say nothing before it has said for which host it is. */
const helloMs = 10_000;
/** Each is looked at together with those before it. */
const mostChunks = 64;
const dialMs = 30_000;

/**
 * Serves the network of a sandbox: answers its questions for names, each of which gets an address of its own in
 * 127.0.0.0/8, and connects what arrives at such an address to the real host. Returns what ends it all.
 */
export function serveEgress({ listeners, questions }: NamespaceSockets, deps: EgressDeps): () => void {
  const addresses = createAddresses();
  const open = new Set<Socket>();

  questions.on("error", () => undefined);
  questions.on("message", (message, { port, address }) => {
    const question = readQuestion(message);
    if (question === undefined) return;
    const { name } = question;
    const isAllowed = deps.names.has(name);
    if (!isAllowed && name !== "localhost")
      deps.onDenied({ host: name, port: undefined, why: "it is not in sandbox.network", allowedBy: name });
    const given = name === "localhost" ? loopback : isAllowed ? addresses.of(name) : undefined;
    // Where the answer is lost, the server asks again.
    questions.send(writeAnswer(question, given), port, address, () => undefined);
  });

  function take(socket: Socket): void {
    socket.on("error", () => socket.destroy());
    const name = socket.localAddress === loopback ? "localhost" : addresses.nameOf(socket.localAddress ?? "");
    if (name === undefined || open.size >= mostConnections) return void socket.destroy();
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    void carry(socket, name, deps);
  }

  for (const server of listeners) prepare(server, take);
  return () => {
    for (const server of listeners) server.close();
    for (const socket of open) socket.destroy();
    questions.close();
  };
}

const loopback = "127.0.0.1";

function prepare(server: Server, take: (socket: Socket) => void): void {
  // Else an end from one side would end the other side too, with the answer.
  Object.assign(server, { allowHalfOpen: true });
  server.on("error", () => undefined);
  server.on("connection", take);
}

/** Gives addresses to names. */
export function createAddresses(most: number = mostNames) {
  /** In the order of use. */
  const byName = new Map<string, string>();
  const byAddress = new Map<string, string>();

  function next(): string {
    const index = byName.size;
    if (index < most) return `127.0.${1 + Math.floor(index / 250)}.${1 + (index % 250)}`;
    const [[oldest, freed] = ["", ""]] = byName;
    byName.delete(oldest);
    return freed;
  }

  return {
    of(name: string): string {
      const address = byName.get(name) ?? next();
      byName.delete(name);
      byName.set(name, address);
      byAddress.set(address, name);
      return address;
    },
    nameOf: (address: string): string | undefined => byAddress.get(address),
  };
}

async function carry(socket: Socket, name: string, deps: EgressDeps): Promise<void> {
  const port = socket.localPort ?? 0;
  const deny = (why: string, allowedBy?: string): void => {
    deps.onDenied({ host: name, port, why, allowedBy });
    socket.destroy();
  };
  const reach = deps.names.reach(name, port);
  const withPort = `${name}:${port}`;
  if (reach === undefined)
    return name === "localhost" ? void socket.destroy() : deny("it is not in sandbox.network", withPort);
  // On the ports of the web, a connection says for which host it is; others may wait for the server's first words.
  const isWeb = port === 80 || port === 443;
  const first = isWeb ? await readFirst(socket) : undefined;
  if (socket.destroyed) return;
  if (first !== undefined && first.host !== name)
    return deny(
      first.host === undefined
        ? "the connection did not say for which host it is"
        : "the connection was for another host",
    );
  const { lookup } = createAddressRules(reach);
  const far = connect({ host: name, port, lookup, allowHalfOpen: true, timeout: dialMs });
  far.once("timeout", () => far.destroy());
  far.once("connect", () => {
    far.setTimeout(0);
    // A private address takes its port, also where that is one of the web.
    deps.onReached(isWeb && reach === "public" ? name : withPort);
    if (first !== undefined) far.write(first.bytes);
    socket.pipe(far).pipe(socket);
  });
  far.on("error", (error: NodeJS.ErrnoException & { readonly data?: unknown }) => {
    if (error.code === "LOGIN_FAILED") deny("its address is not in the public Internet", withPort);
    socket.destroy();
  });
  socket.once("close", () => far.destroy());
  far.once("close", () => socket.destroy());
}

interface First {
  readonly bytes: Buffer;
  readonly host: string | undefined;
}

/** Reads until the connection has said for which host it is, or says no such thing. Then it is paused. */
async function readFirst(socket: Socket): Promise<First> {
  return await new Promise((resolve) => {
    let bytes: Buffer = Buffer.alloc(0);
    const done = (host: string | undefined): void => {
      clearTimeout(timer);
      socket.off("data", onData).off("close", onEnd).off("end", onEnd);
      socket.pause();
      resolve({ bytes, host });
    };
    const onEnd = (): void => done(undefined);
    let chunks = 0;
    const onData = (chunk: Buffer): void => {
      bytes = Buffer.concat([bytes, chunk]);
      chunks += 1;
      const said = hostIn(bytes);
      if (said.kind !== "more" || chunks >= mostChunks) done(said.kind === "host" ? said.name : undefined);
    };
    const timer = setTimeout(onEnd, helloMs);
    timer.unref();
    socket.on("data", onData).once("close", onEnd).once("end", onEnd);
  });
}
