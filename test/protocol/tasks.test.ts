import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startGateway, type RunningGateway } from "../harness/gateway.ts";
import { modernRpc, rpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { readRecord, startBadHttp, type HttpServer } from "./servers.ts";

const serverEras = ["legacy", "modern"] as const;
const clients = { legacy: rpc, modern: modernRpc };
const exposures = [
  ["meta", ""],
  ["flat", "/flat"],
  ["server", "/server/"],
] as const;
const everywhere = exposures.flatMap(([exposure, path]) =>
  serverEras.flatMap((server) => (["legacy", "modern"] as const).map((client) => ({ exposure, path, server, client }))),
);

let directory: string;
let gateway: RunningGateway;
const upstreams: HttpServer[] = [];
const fileOf = (server: string): string => join(directory, `${server}.jsonl`);

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "toolyard-tasks-"));
  const tools = join(directory, "tools.json");
  await writeFile(tools, JSON.stringify([{ name: "start-task", inputSchema: { type: "object" } }]));
  for (const era of serverEras)
    upstreams.push(
      await startBadHttp("--session", "--era", era, "--tasks", "--tools-json", tools, "--record", fileOf(era)),
    );
  const entries = serverEras.map((era, index) => [era, { type: "http", url: upstreams[index]?.url }]);
  gateway = await startGateway({ config: { mcpServers: Object.fromEntries(entries) as object } });
  for (const era of serverEras)
    await until(async () => (await rpc(`${gateway.url}/mcp/flat`, "tools/list")).text.includes(`${era}-start-task`));
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  for (const upstream of upstreams) await upstream[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

const nameOf = {
  meta: () => "execute_mcp_tool",
  flat: (server: string) => `${server}-start-task`,
  server: () => "start-task",
};

describe.each(everywhere)("a $client client of a $server server, exposure $exposure", (where) => {
  const { exposure, path, server, client } = where;

  test("MUST: what is asked about a task names it in Mcp-Name towards a modern server [SEP-2663]", async () => {
    const url = `${gateway.url}/mcp${path}${exposure === "server" ? server : ""}`;
    const send = clients[client];
    const args = exposure === "meta" ? { tool_path: `${server}:start-task` } : {};
    const started = await send(url, "tools/call", { name: nameOf[exposure](server), arguments: args, task: {} });
    const { taskId } = (started.json.result.task ?? started.json.result) as { taskId: string };
    expect(taskId).toEqual(expect.any(String));
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
      const params = method === "tasks/update" && client === "modern" ? { taskId, inputResponses: {} } : { taskId };
      const answer = await send(url, method, params);
      expect(answer.json.result, `${method} ${answer.text}`).toBeDefined();
      const received = readRecord(fileOf(server)).findLast(({ message }) => message?.method === method);
      expect(received.message.params).toMatchObject(params);
      expect(received.headers["mcp-name"]).toBe(server === "modern" ? taskId : undefined);
      if (server === "modern") expect(received.headers["mcp-method"]).toBe(method);
    }
    const gone = await send(url, "tasks/get", { taskId });
    expect(gone.json.error.code).toBe(-32602);
  });
});

test.each(exposures)(
  "MUST: a modern client's own Mcp-Name of a task must be the task's id; without one it is served [SEP-2663] (%s)",
  async (exposure, path) => {
    const url = `${gateway.url}/mcp${path}${exposure === "server" ? "modern" : ""}`;
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
      const wrong = await modernRpc(url, method, { taskId: "one" }, {}, { "mcp-name": "other" });
      expect([wrong.status, wrong.json.error.code]).toEqual([400, -32020]);
      for (const headers of [{ "mcp-name": "one" }, { "mcp-name": "=?base64?b25l?=" }, undefined])
        expect((await modernRpc(url, method, { taskId: "one" }, {}, headers)).json.error.code).toBe(-32602);
    }
  },
);
