import type { InstanceId, PrincipalId } from "../ids.ts";

/** Who speaks with the gateway on a connection: a client, or a server. */
export type TapPeer =
  | {
      readonly side: "client";
      /** Of the connection, in which ids of requests are unique. */
      readonly key: string;
      /** What the client calls itself, once it has said so. */
      readonly name: string | undefined;
      readonly principal: PrincipalId;
    }
  | { readonly side: "server"; readonly key: string; readonly name: string; readonly instance: InstanceId };

/** Towards the gateway, or away from it. */
export type TapWay = "in" | "out";

/** The bytes of a message; as text, each character is one byte. */
export type TappedBytes = Buffer | string | readonly (string | Buffer)[];

/**
 * Where messages can be looked at while they pass. `take` is undefined as long as no person looks, and that is all that
 * a message costs then. It must neither throw, nor wait, nor keep the bytes: their memory is used again.
 */
export interface MessageTap {
  /** `status` is that of an HTTP answer that refuses what it answers. */
  take: ((peer: TapPeer, way: TapWay, message: TappedBytes, status?: number) => void) | undefined;
}

/** The tap of one connection. */
export type TapLine = (way: TapWay, message: TappedBytes, status?: number) => void;

/** The same tap for a connection whose peer is known once and for all. */
export function tapLine(tap: MessageTap, peer: TapPeer): TapLine {
  return (way, message, status) => tap.take?.(peer, way, message, status);
}
