import { connect, createServer, type Server, type TLSSocket } from "node:tls";
import type { AddressInfo } from "node:net";
import type { NodeKey } from "../../store/shared.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { createFrameStream, type FrameHead, type FrameStream } from "./frames.ts";

/** The version of the frames. A node speaks its own and the one before it. */
export const wireVersion = 1;
const oldestWire = 1;

/** A connection to another node, over which this one asks. */
export interface PeerLink {
  readonly peer: NodeKey;
  readonly frames: FrameStream;
  /** Listens to frames that come, one listener for all. */
  listen(onFrame: (head: FrameHead, body: Buffer) => void): void;
}

/** Why a node could not be reached. */
export class Unreachable extends Error {
  override readonly name = "Unreachable";
  /** No one listens there, or another life of it does: that life of the node is over. */
  readonly isGone: boolean;

  constructor(message: string, isGone: boolean) {
    super(message);
    this.isGone = isGone;
  }
}

export interface PeerNetworkOptions {
  /** What all nodes have, 32 bytes. */
  readonly key: Uint8Array;
  readonly me: () => NodeKey;
  readonly host: string;
  readonly port: number;
  readonly bodyBytes: number;
  /** Another node has connected, and asks. Returns what takes its frames. */
  readonly onPeer: (peer: NodeKey, frames: FrameStream) => (head: FrameHead, body: Buffer) => void;
}

/** Encrypted connections between the nodes of one cluster, who know each other by a key. */
export interface PeerNetwork {
  /** Resolves to the port. Rejects when it is taken. */
  listen(): Promise<number>;
  /** Connects to a node. Rejects with Unreachable. */
  dial(node: NodeKey & { readonly address: string }): Promise<PeerLink>;
  close(): Promise<void>;
}

const identity = "toolyard";
/** TLS 1.3 with a key that both sides have needs a cipher of SHA-256. */
const tls = {
  minVersion: "TLSv1.3",
  ciphers: "TLS_AES_128_GCM_SHA256",
  // Between two machines of one network: a node that takes longer is as good as silent.
  handshakeTimeout: 3_000,
} as const;
const dialMs = 1_500;
/** Each node has one connection to each other; more are not let in before they have shown the key. */
const mostPeers = 500;

export function createPeerNetwork(options: PeerNetworkOptions): PeerNetwork {
  const { key, me, bodyBytes } = options;
  const sockets = new Set<TLSSocket>();
  const psk = Buffer.from(key);

  const keep = (socket: TLSSocket): void => {
    socket.setNoDelay(true);
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  };

  const server = createServer(
    { ...tls, pskCallback: (_socket, name) => (name === identity ? psk : null) },
    (socket: TLSSocket) => {
      keep(socket);
      let take: ((head: FrameHead, body: Buffer) => void) | undefined;
      const frames: FrameStream = createFrameStream(socket, {
        bodyBytes,
        onFrame(head, body) {
          if (take !== undefined) return take(head, body);
          const peer = helloOf(head);
          frames.send({ k: "hello", wire: wireVersion, ...me() });
          if (peer === undefined) return frames.end();
          take = options.onPeer(peer, frames);
        },
      });
    },
  );
  server.on("tlsClientError", () => undefined);
  server.maxConnections = mostPeers;

  async function dial(node: NodeKey & { readonly address: string }): Promise<PeerLink> {
    const { host, port } = splitAddress(node.address);
    const socket = connect({
      ...{ host, port, ...tls, checkServerIdentity: () => undefined, pskCallback: () => ({ psk, identity }) },
    });
    return await new Promise<PeerLink>((resolve, reject) => {
      let listener: ((head: FrameHead, body: Buffer) => void) | undefined;
      const fail = (message: string, isGone: boolean): void => {
        clearTimeout(timer);
        socket.destroy();
        reject(new Unreachable(`${node.id} at ${node.address} ${message}`, isGone));
      };
      const timer = setTimeout(() => fail(`did not answer within ${dialMs} ms`, false), dialMs);
      socket.once("error", ({ message, ...error }) =>
        fail(`cannot be reached: ${message}`, "code" in error && error.code === "ECONNREFUSED"),
      );
      socket.once("close", () => fail("ended the connection", false));
      socket.once("secureConnect", () => {
        keep(socket);
        const frames = createFrameStream(socket, {
          bodyBytes,
          onFrame(head, body) {
            if (listener !== undefined) return listener(head, body);
            const peer = helloOf(head);
            if (peer === undefined) return fail(`speaks version ${String(head["wire"])} of the wire`, false);
            // Another node there proves nothing: both may have the address of a balancer.
            if (peer.id !== node.id) return fail(`is ${peer.id}`, false);
            if (peer.epoch !== node.epoch) return fail("has begun another life", peer.epoch > node.epoch);
            clearTimeout(timer);
            listener = () => undefined;
            resolve({ peer, frames, listen: (next) => void (listener = next) });
          },
        });
        frames.send({ k: "hello", wire: wireVersion, ...me() });
      });
    });
  }

  return {
    listen: async () => await listenAt(server, options),
    dial,
    async close() {
      const ended = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await ended;
    },
  };
}

async function listenAt(server: Server, { host, port }: Pick<PeerNetworkOptions, "host" | "port">): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", ({ message }) =>
      reject(new GatewayError("ADDRESS_UNUSABLE", `other nodes cannot be listened for: ${message}`)),
    );
    server.listen({ host, port }, resolve);
  });
  return (server.address() as AddressInfo).port;
}

/** Who says hello, in a version that this node speaks. */
function helloOf(head: FrameHead): NodeKey | undefined {
  const { k, wire, id, epoch } = head;
  if (k !== "hello" || typeof wire !== "number" || wire < oldestWire) return undefined;
  return typeof id === "string" && typeof epoch === "number" ? { id, epoch } : undefined;
}

/** `host:port`, where the host may be an IPv6 address in brackets. */
export function splitAddress(address: string): { readonly host: string; readonly port: number } {
  const at = address.lastIndexOf(":");
  return { host: address.slice(0, at).replace(/^\[|\]$/g, ""), port: Number(address.slice(at + 1)) };
}
