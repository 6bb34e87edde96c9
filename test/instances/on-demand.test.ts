import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createToken } from "../../src/people/identity/token.ts";
import { badServer, badServerFile, startGateway } from "../harness/gateway.ts";
import { execute, rpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { isAlive } from "../processes/survivors.ts";
import { aliveIn, discover, standingOf, startsIn } from "./observing.ts";

let directory: string;
let pids: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "toolyard-demand-"));
  pids = join(directory, "pids");
});
afterEach(async () => await rm(directory, { recursive: true, force: true }));

const sleepy = { instances: { idleGraceMs: 0, idleCheckMs: 100, idleTimeoutMs: 300 } };

test("an idle server goes to sleep with its whole tree, keeps its tools, and wakes for a call", async () => {
  await using gateway = await startGateway({
    config: { mcpServers: { bad: badServer("--write-pid", pids) }, toolyard: sleepy },
  });
  await execute(gateway.url, "bad:setsid");
  // On a slow machine it is asleep before this call comes, and is started for it.
  const starts = startsIn(pids).length;
  await until(() => aliveIn(pids).length === 0);
  expect(await standingOf(gateway.url, "bad")).toMatchObject({ status: "dormant" });
  expect((await discover(gateway.url, { query: "echo the arguments" })).tools[0].tool_path).toBe("bad:echo");
  const result = await execute(gateway.url, "bad:echo", { text: "awake" });
  expect(result.structuredContent).toEqual({ text: "awake" });
  expect(startsIn(pids)).toHaveLength(starts + 1);
});

test("FAULT 85: a call that is silent for longer than the idle limit is not stopped", async () => {
  await using gateway = await startGateway({
    config: { mcpServers: { bad: badServer("--write-pid", pids) }, toolyard: sleepy },
  });
  await until(() => aliveIn(pids).length === 0 && startsIn(pids).length === 1);
  const result = await execute(gateway.url, "bad:slow", { ms: 1_500 });
  expect(result.isError).not.toBe(true);
  expect(startsIn(pids)).toHaveLength(2);
});

test("two hundred calls at once share one start", async () => {
  // On a busy machine it takes a while until the last of them is read, and it must not sleep again before.
  const toolyard = { instances: { ...sleepy.instances, idleTimeoutMs: 3_000 } };
  await using gateway = await startGateway({
    config: { mcpServers: { bad: badServer("--write-pid", pids, "--start-delay", "200") }, toolyard },
  });
  await until(() => aliveIn(pids).length === 0 && startsIn(pids).length === 1);
  const results = await Promise.all(Array.from({ length: 200 }, async () => await execute(gateway.url, "bad:pid")));
  expect(results.every((result) => result.isError !== true)).toBe(true);
  expect(new Set(results.map((result) => result.content[0].text)).size).toBe(1);
  expect(startsIn(pids)).toHaveLength(2);
});

test("FAULT 65: a server that hangs at its start is given up at the deadline, with what it wrote last", async () => {
  const hanging = {
    ...badServer("--hang-on-initialize", "--stderr-lines", "3", "--ignore-eof"),
    startTimeoutMs: 1_500,
  };
  await using gateway = await startGateway({ config: { mcpServers: { hanging, good: badServer() } } });
  await until(async () => (await standingOf(gateway.url, "good")).status === "online");
  const standing = await until(async () => {
    const now = await standingOf(gateway.url, "hanging");
    return now.status === "error" && now;
  });
  expect(standing.reason).toContain("did not come up within 1.5 s");
  const failed = await execute(gateway.url, "hanging:echo");
  expect(failed.isError).toBe(true);
});

test("a call that waits for a server which hangs gets the deadline's error, with the last stderr lines", async () => {
  // Known from an earlier life, so that its tools resolve; the file makes it hang from the second start on.
  const hangsLater =
    'if [ -e "$0" ]; then echo "waiting for the database" >&2; exec sleep 1000; else : > "$0"; exec "$1" "$2"; fi';
  const bad = {
    command: "/bin/sh",
    args: ["-c", hangsLater, join(directory, "started"), process.execPath, badServerFile],
    startTimeoutMs: 1_500,
  };
  await using gateway = await startGateway({ config: { mcpServers: { bad }, toolyard: sleepy } });
  await until(async () => (await standingOf(gateway.url, "bad")).status === "dormant");
  const failed = await execute(gateway.url, "bad:pid");
  expect(failed.isError).toBe(true);
  expect(JSON.parse(failed.content[0].text)).toMatchObject({
    code: "START_TIMEOUT",
    stderr: ["waiting for the database"],
  });
});

test("FAULT 86: two hundred users at once: every one is served, by exactly one process each, few starting at a time", async () => {
  const people = Array.from({ length: 200 }, (_value, index) => ({ id: `user-${index}`, ...createToken() }));
  const principals = Object.fromEntries(people.map(({ id, hash }) => [id, { tokenHash: hash }]));
  const tiny = { command: "/bin/sh", args: ["-c", tinyServer, pids], scope: "user" };
  await using gateway = await startGateway({
    config: { mcpServers: { tiny }, toolyard: { principals, instances: { parallelStarts: 4 } } },
  });
  const answers = await Promise.all(
    people.map(async ({ token }) => {
      const headers = { authorization: `Bearer ${token}` };
      return await until(async () => {
        const answer = await rpc(
          `${gateway.url}/mcp/server/tiny`,
          "tools/call",
          { name: "who", arguments: {} },
          headers,
        );
        return answer.json.result?.isError !== true && answer.json.result?.content?.[0].text;
      }, 200_000);
    }),
  );
  expect(new Set(answers).size).toBe(200);
  expect(startsIn(pids)).toHaveLength(200);
  const guardianAndServers = startsIn(pids).filter((pid) => isAlive(pid));
  expect(guardianAndServers).toHaveLength(200);
});

/** A server in a few lines of shell: two hundred of them fit into the memory of a small machine. */
const tinyServer = `
echo "$$ server" >> "$0"
while IFS= read -r line; do
  id=\${line#*\\"id\\":} id=\${id%%[,\\}]*}
  case $line in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"tiny","version":"1"}}}' ;;
    *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"tools":[{"name":"who","inputSchema":{"type":"object"}}]}}' ;;
    *'"tools/call"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"content":[{"type":"text","text":"'"$$"'"}]}}' ;;
    *'"id"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"error":{"code":-32601,"message":"no"}}' ;;
  esac
done`;
