import type { IncomingMessage } from "node:http";
import { closeSync, openSync, readSync } from "node:fs";
import { isIPv4, type Socket } from "node:net";
import { endianness } from "node:os";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { isListed, loopback, toBlockList } from "../../../kernel/text/host-addresses.ts";

/** The user whose program has the other end of a connection; why that is not known where it is not. */
export type PeerUser =
  | { readonly kind: "user"; readonly uid: number }
  /** The program has closed its end, so that the kernel does not say any more whose it was. */
  | { readonly kind: "gone" }
  | { readonly kind: "unknown" };

/** The kernel's tables of connections. */
export interface ConnectionTables {
  /** Reads that of IPv4 or of IPv6, as bytes that are good until it is read again. Rejects where there is none. */
  read(family: TableName): Promise<Buffer>;
}

export type TableName = "tcp" | "tcp6";

/** Those of Linux. Other systems have none that can be read without another program. */
export function linuxTables(): ConnectionTables {
  // Used again for each reading, because a script may make a hundred connections a second.
  const tables: Record<TableName, Buffer> = { tcp: Buffer.alloc(65_536), tcp6: Buffer.alloc(65_536) };
  return {
    async read(family) {
      const file = openSync(`/proc/net/${family}`, "r");
      try {
        let table = tables[family];
        let end = 0;
        // The kernel gives a page at a time, 25 connections in 30 us; asking a thread for each takes much longer.
        for (let reads = 1; ; reads += 1) {
          if (table.length - end < leastRoom) table = tables[family] = Buffer.concat([table], 2 * table.length);
          const length = readSync(file, table, { offset: end });
          if (length === 0) return table.subarray(0, end);
          end += length;
          if (reads % readsAtOnce === 0) await nextTurn();
        }
      } finally {
        closeSync(file);
      }
    },
  };
}

const leastRoom = 16_384;
/**
 * Reading takes a quarter of the time in the long run, unless it takes long because the machine is busy. What was not
 * used is kept for a script that connects some dozens of times, one after the other.
 */
const restShare = 3;
const mostRestMs = 30;
const mostUnusedMs = 300;
/** Clients make several connections at once, and the first is rarely alone. */
const gatherMs = 2;
/** A millisecond or two. */
const readsAtOnce = 100;

export interface PeerCheckOptions {
  readonly tables: ConnectionTables;
  /** Our own user; undefined on systems without numbers of users. */
  readonly ownUid: number | undefined;
  /** Whether requests need no credential at this moment, so that the machine's users have to be told apart. */
  readonly isOpen: () => boolean;
  /** Proxies whose users are not asked for. */
  readonly trustedProxies: () => readonly string[];
}

/** Returns undefined for a request that may come in, or a promise that rejects with PEER_FORBIDDEN, as it may throw. */
export type PeerCheck = (request: Pick<IncomingMessage, "socket">) => Promise<void> | undefined;

const root = 0;

/**
 * Keeps other users of the machine out where no credential is asked for: a port of 127.0.0.1 is open to all of them.
 * The kernel is asked once for each connection, and once for all connections that come at the same time. That takes
 * 4 ms, and 10 with 5,000 connections on the machine, those that have just ended included. Where some dozens have come
 * one after the other, the next ones wait for up to 30 ms, so that it is not asked without a pause. Root may do
 * anything in any case.
 */
export function createPeerCheck(options: PeerCheckOptions): PeerCheck {
  const { tables, ownUid, isOpen, trustedProxies } = options;
  const known = new WeakMap<Socket, Promise<void> | "allowed">();
  const reading = new Map<TableName, Promise<Buffer>>();
  const latest = new Map<TableName, Promise<unknown>>();
  /** Of the time for reading, what was left when it was last read; less than 0 when too much was taken. */
  let unusedMs = mostUnusedMs;
  let readAtMs = 0;

  /** One that begins after the connection was made: a reading in progress may not have it yet. */
  async function read(family: TableName): Promise<Buffer> {
    const begun = reading.get(family);
    if (begun !== undefined) return await begun;
    const next = readNext(family);
    reading.set(family, next);
    // One after the other, because all have the same bytes.
    latest.set(
      family,
      next.catch(() => undefined),
    );
    return await next;
  }

  async function readNext(family: TableName): Promise<Buffer> {
    await latest.get(family);
    const owedMs = -unusedMs * restShare - (performance.now() - readAtMs);
    await sleep(Math.max(gatherMs, Math.min(owedMs, mostRestMs)));
    reading.delete(family);
    const startMs = performance.now();
    const table = await tables.read(family);
    unusedMs = Math.min(unusedMs + (startMs - readAtMs) / restShare, mostUnusedMs);
    readAtMs = performance.now();
    unusedMs = Math.max(unusedMs - (readAtMs - startMs), -mostRestMs / restShare);
    return table;
  }

  async function look(socket: Socket): Promise<void> {
    const found = await findPeerUser(read, socket).catch((): PeerUser => ({ kind: "unknown" }));
    if (found.kind === "unknown" || (found.kind === "user" && (found.uid === ownUid || found.uid === root))) {
      known.set(socket, "allowed");
      return;
    }
    throw new GatewayError("PEER_FORBIDDEN", "this gateway is another user's, and asks for no token");
  }

  return ({ socket }) => {
    if (ownUid === undefined || !isOpen()) return undefined;
    const before = known.get(socket);
    if (before !== undefined) return before === "allowed" ? undefined : before;
    const { remoteAddress } = socket;
    if (!isListed(loopback, remoteAddress) || isListed(toBlockList(trustedProxies()), remoteAddress)) {
      known.set(socket, "allowed");
      return undefined;
    }
    const looking = look(socket);
    known.set(socket, looking);
    return looking;
  };
}

/** Both ends of a connection, as `Socket` has them. */
export type ConnectionEnds = Pick<Socket, "remoteAddress" | "remotePort" | "localAddress" | "localPort">;

/**
 * Looks for the other end in the tables. A table in which not even our own end is found tells nothing, as in some
 * sandboxes. Rejects when there are none.
 */
export async function findPeerUser(read: ConnectionTables["read"], ends: ConnectionEnds): Promise<PeerUser> {
  const { remoteAddress = "", remotePort = 0, localAddress = "", localPort = 0 } = ends;
  const [theirs, ours] = [toBare(remoteAddress), toBare(localAddress)];
  // A program may reach an IPv4 address by a socket of IPv6.
  const mapped = (address: string): string => `0000000000000000${mappedMark}${ipv4Hex(address)}`;
  const forms = isIPv4(theirs)
    ? ([["tcp", ipv4Hex] as const, ["tcp6", mapped] as const] as const)
    : ([["tcp6", ipv6Loopback] as const] as const);
  let isSeen = false;
  for (const [family, write] of forms) {
    const table = await read(family);
    const rows = rowsOf(table, family);
    const [their, our] = [`${write(theirs)}:${portHex(remotePort)}`, `${write(ours)}:${portHex(localPort)}`];
    const at = rows.get(`${their} ${our}`);
    isSeen ||= rows.has(`${our} ${their}`);
    if (at === undefined) continue;
    // State, queues, timer and retransmissions stand before the user, a timeout between it and the inode.
    const [, , , , , , uid, , inode] = table.toString("latin1", at, at + 200).split(/ +/);
    return inode === "0" || uid === undefined ? { kind: "gone" } : { kind: "user", uid: Number(uid) };
  }
  return { kind: isSeen ? "gone" : "unknown" };
}

const lineEnd = 10;
const colon = 58;
/** Both addresses with their ports, as a row of the table has them. */
const endsLength: Readonly<Record<TableName, number>> = { tcp: 27, tcp6: 75 };
/** Of a connection whose programs have both closed it, for a minute: most of a table where scripts come and go. */
const timeWait = "06";

/** One for all connections that ask at the same time: each would look through the whole table. */
const rowsByTable = new WeakMap<Buffer, ReadonlyMap<string, number>>();

/** Where the rows of a table begin, by both ends. */
function rowsOf(table: Buffer, family: TableName): ReadonlyMap<string, number> {
  const before = rowsByTable.get(table);
  if (before !== undefined) return before;
  const rows = new Map<string, number>();
  const length = endsLength[family];
  for (let at = 0; at < table.length;) {
    const start = table.indexOf(colon, at) + 2;
    const end = table.indexOf(lineEnd, at);
    const next = end === -1 ? table.length : end + 1;
    const stateAt = start + length + 1;
    if (start > at + 1 && start < next && table.toString("latin1", stateAt, stateAt + 2) !== timeWait)
      rows.set(table.toString("latin1", start, start + length), start);
    at = next;
  }
  rowsByTable.set(table, rows);
  return rows;
}

const isLittle = endianness() === "LE";
const mappedMark = isLittle ? "FFFF0000" : "0000FFFF";

/** Without what an IPv4 address has before it on a socket for both. */
function toBare(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, "");
}

function portHex(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, "0");
}

function ipv4Hex(address: string): string {
  return wordHex(address.split(".").map(Number));
}

/** Loopback has one address in IPv6; others are not asked for. */
function ipv6Loopback(): string {
  return `000000000000000000000000${wordHex([0, 0, 0, 1])}`;
}

/** Four bytes as the kernel prints a number of its own. */
function wordHex(bytes: readonly number[]): string {
  const ordered = isLittle ? bytes.toReversed() : bytes;
  return ordered.map((byte) => byte.toString(16).toUpperCase().padStart(2, "0")).join("");
}
