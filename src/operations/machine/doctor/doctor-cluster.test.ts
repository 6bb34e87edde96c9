import { createServer, type AddressInfo } from "node:net";
import { expect, test } from "vitest";
import type { Config } from "../../../config/config.ts";
import { fakeServer } from "../../../../test/harness/fake-server.ts";
import { checkCluster, checkClusterFiles } from "./doctor-cluster.ts";

const never = new AbortController().signal;

test("too few connections, and nodes that differ, are found; what is dead is not asked for", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const node = (id: string, facts: object = {}) => ({ id, state: "ready", address, differs: false, ...facts });
  const nodes = [node("one"), node("two", { differs: true }), node("old", { state: "dead", address: "127.0.0.1:1" })];
  const kinds = async (maxConnections: number | null) =>
    (await checkCluster({ nodes, maxConnections }, never)).map(({ kind, what }) => `${kind}: ${what}`);
  const differs =
    "warn: the node two has other servers or rules of calls in its configuration than the node that was asked";
  const cluster = "ok: nodes of the cluster: one (ready), two (ready)";
  expect(await kinds(42)).toEqual([cluster, differs]);
  expect(await kinds(null)).toEqual([cluster, differs]);
  expect(await kinds(41)).toEqual([cluster, differs, "warn: PostgreSQL takes 41 connections, and 2 nodes may need 42"]);
  server.close();
});

test("servers of which it is not known whether they keep files are named, of a node alone", () => {
  const servers = [
    fakeServer({ key: "said", files: "none" }),
    fakeServer({ key: "off", disabledReason: "off" }),
    fakeServer({ key: "remote", transport: { kind: "http", url: "http://a", headers: {} } }),
    ...Array.from({ length: 12 }, (_, nth) => fakeServer({ key: `s${nth}` })),
  ];
  const found = (cluster: object | undefined) =>
    checkClusterFiles({ servers, settings: { cluster } } as unknown as Config).map(({ what }) => what);
  expect(found(undefined)).toEqual([]);
  expect(found({})).toEqual([expect.stringMatching(/not known of s0, s1, .*, s9 and 2 more: they start at any node/)]);
});
