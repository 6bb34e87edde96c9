// A server that does what it is told, to try what a process in its place could do: its tool `run` evaluates JavaScript.
import { createInterface } from "node:readline";
import * as child_process from "node:child_process";
import * as fs from "node:fs";
import * as net from "node:net";
import * as os from "node:os";
import * as dgram from "node:dgram";
import * as dns from "node:dns/promises";
import * as tls from "node:tls";

const modules = { child_process, fs, net, os, dgram, dns, tls };
const Run = Object.getPrototypeOf(async () => undefined).constructor;

async function run(code) {
  try {
    return JSON.stringify((await new Run(...Object.keys(modules), code)(...Object.values(modules))) ?? null);
  } catch (error) {
    return `failed: ${error.code ?? ""} ${error.message}`;
  }
}

const tools = [
  {
    name: "run",
    description: "Evaluates JavaScript",
    inputSchema: { type: "object", properties: { code: { type: "string" } }, required: ["code"] },
  },
];

async function answer(method, params) {
  if (method === "initialize") {
    const serverInfo = { name: "inside", version: "1" };
    return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo };
  }
  if (method === "tools/list") return { tools };
  if (method === "tools/call") return { content: [{ type: "text", text: await run(params.arguments.code) }] };
  return {};
}

createInterface({ input: process.stdin }).on("line", async (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const known = method !== "server/discover";
  const body = known
    ? { result: await answer(method, params) }
    : { error: { code: -32601, message: "unknown method" } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...body })}\n`);
});
