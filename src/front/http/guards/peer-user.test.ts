import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { expect, test } from "vitest";
import { createPeerCheck, findPeerUser, linuxTables, type PeerUser } from "./peer-user.ts";

/** Both sockets of a real connection of this machine. */
async function connected(host: string, target = host): Promise<{ ours: Socket; theirs: Socket } & Disposable> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const accepted = new Promise<Socket>((resolve) => server.once("connection", resolve));
  const theirs = connect((server.address() as AddressInfo).port, target);
  const ours = await accepted;
  return {
    ...{ ours, theirs },
    [Symbol.dispose]() {
      for (const socket of [ours, theirs]) socket.destroy();
      server.close();
    },
  };
}

const own = process.getuid?.() ?? 0;

test.runIf(process.platform === "linux").each([
  ["127.0.0.1", "127.0.0.1"],
  ["127.0.0.1", "::ffff:127.0.0.1"],
  ["::1", "::1"],
  ["::", "127.0.0.1"],
])("the kernel says whose program is at the other end: at %s, reached by %s", async (host, target) => {
  using pair = await connected(host, target);
  expect(await findPeerUser(linuxTables().read, pair.ours)).toEqual({ kind: "user", uid: own });
});

test.runIf(process.platform === "linux")("of a program that has gone nothing is believed", async () => {
  using pair = await connected("127.0.0.1");
  const { ours, theirs } = pair;
  const gone = new Promise((resolve) => theirs.once("close", resolve));
  theirs.destroy();
  await gone;
  expect(["gone", "unknown"]).toContain((await findPeerUser(linuxTables().read, ours)).kind);
});

const line = (uid: number, inode: number): string =>
  `   1: 0100007F:1F90 0100007F:0BB9 01 00000000:00000000 00:00000000 00000000 ${String(uid).padStart(5)}        0 ${inode} 2 0\n`;
const ourLine = `   2: 0100007F:0BB9 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 12 2 0\n`;
const ends = { remoteAddress: "127.0.0.1", remotePort: 8080, localAddress: "127.0.0.1", localPort: 3001 };

test.each<[string, string, PeerUser]>([
  ["of another user", line(1001, 7) + ourLine, { kind: "user", uid: 1001 }],
  ["whose program closed it: the kernel prints root", line(0, 0) + ourLine, { kind: "gone" }],
  ["that has been closed by both", line(0, 0).replace(" 01 ", " 06 ") + ourLine, { kind: "gone" }],
  ["that is not there any more", ourLine, { kind: "gone" }],
  ["in a table without connections", "  sl  local_address rem_address\n", { kind: "unknown" }],
  ["cut off", line(1001, 7).slice(0, 60), { kind: "gone" }],
])("a connection %s", async (_what, tcp, found) => {
  expect(await findPeerUser(async (family) => Buffer.from(family === "tcp" ? tcp : ""), ends)).toEqual(found);
});

interface Asked {
  readonly uid?: number;
  readonly ownUid?: number | undefined;
  readonly isOpen?: boolean;
  readonly trustedProxies?: readonly string[];
  readonly remoteAddress?: string;
}

/** Asks for several requests of one connection; resolves to what each got, and how often the kernel was asked. */
async function ask({ uid = 1001, isOpen = true, trustedProxies = [], remoteAddress = "127.0.0.1", ...rest }: Asked) {
  let reads = 0;
  const check = createPeerCheck({
    tables: {
      async read() {
        reads += 1;
        return Buffer.from(line(uid, 7) + ourLine);
      },
    },
    ownUid: "ownUid" in rest ? rest.ownUid : 1000,
    isOpen: () => isOpen,
    trustedProxies: () => trustedProxies,
  });
  const request = { socket: { ...ends, remoteAddress } as Socket };
  const answers = await Promise.all(
    [1, 2, 3].map(async () => {
      try {
        await check(request);
        return "in";
      } catch (error) {
        return (error as { code: string }).code;
      }
    }),
  );
  return [...new Set(answers), reads];
}

test("another user is refused, the own and root are not, and each connection is looked up once", async () => {
  expect(await ask({})).toEqual(["PEER_FORBIDDEN", 1]);
  expect(await ask({ uid: 1000 })).toEqual(["in", 1]);
  expect(await ask({ uid: 0 })).toEqual(["in", 1]);
});

test("nothing is looked up where a credential is asked for, beyond this machine, behind a trusted proxy, or without uids", async () => {
  expect(await ask({ isOpen: false })).toEqual(["in", 0]);
  expect(await ask({ remoteAddress: "192.168.0.7" })).toEqual(["in", 0]);
  expect(await ask({ trustedProxies: ["127.0.0.1"] })).toEqual(["in", 0]);
  expect(await ask({ ownUid: undefined })).toEqual(["in", 0]);
});

test("connections that come at once are found in one reading of a long table", async () => {
  let reads = 0;
  const closed = line(0, 0).replace(" 01 ", " 06 ").replace(":1F90", ":FFFF").repeat(5_000);
  const port = (index: number): string => (8_080 + index).toString(16).toUpperCase();
  const rows = Array.from({ length: 32 }, (_, index) =>
    line(index === 31 ? 1001 : 1000, 7).replace("1F90", port(index)),
  );
  const check = createPeerCheck({
    tables: {
      async read() {
        reads += 1;
        return Buffer.from(closed + rows.join(""));
      },
    },
    ...{ ownUid: 1000, isOpen: () => true, trustedProxies: () => [] },
  });
  const answers = await Promise.allSettled(
    rows.map(async (_row, index) => await check({ socket: { ...ends, remotePort: 8_080 + index } as Socket })),
  );
  expect(answers.map(({ status }) => status)).toEqual([...Array<string>(31).fill("fulfilled"), "rejected"]);
  expect(reads).toBe(1);
});

test("some dozens of connections one after the other are looked up at once, after many there is a pause", async () => {
  const check = createPeerCheck({
    tables: {
      async read() {
        for (const endMs = performance.now() + 5; performance.now() < endMs;);
        return Buffer.from(line(1000, 7) + ourLine);
      },
    },
    ...{ ownUid: 1000, isOpen: () => true, trustedProxies: () => [] },
  });
  const tookMs: number[] = [];
  for (let index = 0; index < 140; index += 1) {
    const startMs = performance.now();
    await check({ socket: { ...ends } as Socket });
    tookMs.push(performance.now() - startMs);
  }
  const usual = (times: readonly number[]): number => [...times].sort((a, b) => a - b)[times.length >> 1] ?? 0;
  expect(usual(tookMs.slice(-20))).toBeGreaterThan(usual(tookMs.slice(0, 20)) * 1.3);
});
