import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fillDisk } from "../harness/full-disk.ts";
import type { RunningGateway } from "../harness/gateway.ts";
import { askOwner } from "../harness/owner-door.ts";
import { hasNoPostgres, startPostgres } from "../harness/postgres.ts";
import { until } from "../harness/until.ts";
import { callAt, startNodes, type Nodes } from "./nodes.ts";

const canMount = process.platform === "linux" && process.getuid?.() === 0;

describe.skipIf(hasNoPostgres || !canMount)("two nodes whose PostgreSQL has no room left on its disk", () => {
  let disk: string;
  let nodes: Nodes;
  let [one, two, three]: RunningGateway[] = [];

  beforeAll(async () => {
    disk = await mkdtemp(join(tmpdir(), "toolyard-small-disk-"));
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=200m,mode=0755", "tmpfs", disk]);
    nodes = await startNodes(undefined, {}, await startPostgres(disk));
    [one, two] = [await nodes.start("one"), await nodes.start("two")];
    three = await nodes.start("three", { settings: { team: true }, servers: {} });
    const made = await askOwner(join(three.directory, "data"), "POST", "/api/teams", { slug: "red" });
    expect(made, made.text).toMatchObject({ status: 201 });
    expect(await put("BEFORE")).toMatchObject({ status: 200 });
  });
  afterAll(async () => {
    await nodes[Symbol.asyncDispose]();
    execFileSync("umount", ["-l", disk]);
    await rm(disk, { recursive: true, force: true });
  });

  const at = (name: "one" | "two" | "three") => ({ one, two, three })[name] as RunningGateway;

  /** A secret of a team, at the node that has people. */
  async function put(name: string, value = "x") {
    const path = `/api/teams/red/secrets/${name}`;
    const { status, text } = await askOwner(join(at("three").directory, "data"), "PUT", path, { value });
    return {
      status,
      ...(JSON.parse(text) as { readonly code?: string; readonly detail?: string; readonly hint?: string }),
    };
  }

  test("what runs goes on at both, a change is refused with its reason, and room mends it", async () => {
    const { pid } = await callAt(at("one"), "count");
    const serve = async (): Promise<void> => {
      for (const name of ["one", "two"] as const) expect((await callAt(at(name), "count")).pid).toBe(pid);
    };
    const filler = join(disk, "filler");
    await fillDisk(filler);
    let kept = 0;
    const refused = await until(async () => {
      const told = await put(`SECRET_${kept}`, "x".repeat(60_000));
      if (told.status === 200) kept += 1;
      await serve();
      return told.status === 200 ? undefined : told;
    });
    expect(refused).toMatchObject({ status: 507, code: "STORE_FULL" });
    expect(refused.detail).toContain("there is no room on the disk of PostgreSQL at 127.0.0.1");
    expect(refused.hint).toContain("Make room there");
    // Leases are renewed where rows are.
    await until(async () => {
      await serve();
      return await nodes.postgres
        .run("select 1 from toolyard_cluster.nodes where until > now() having count(*) = 3", "yard")
        .then((rows) => rows.length === 1);
    });
    await rm(filler);
    await until(async () => (await put("AFTER")).status === 200);
    await serve();
  });

  test("when it stops because it can log no change, what runs goes on, and all goes on when it is started again", async () => {
    const { pid } = await callAt(at("one"), "count");
    const filler = join(disk, "filler");
    await fillDisk(filler);
    const isUp = async (): Promise<boolean> =>
      await nodes.postgres.run("select 1").then(
        () => true,
        () => false,
      );
    await until(async () => {
      await nodes.postgres.run("select pg_switch_wal()").catch(() => undefined);
      expect((await callAt(at("two"), "count")).pid).toBe(pid);
      return !(await isUp());
    });
    expect((await callAt(at("one"), "count")).pid).toBe(pid);
    await until(async () => (await put("AFTER")).status === 503);
    await rm(filler);
    await nodes.postgres.stop();
    await nodes.postgres.start();
    await until(async () => (await put("AFTER")).status === 200);
    expect((await callAt(at("two"), "count")).pid).toBe(pid);
    for (const name of ["one", "two", "three"] as const)
      expect(at(name).stderr()).not.toContain("serves none of its servers");
  });
});
