import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import type { Socket as UdpSocket } from "node:dgram";
import type { Server } from "node:net";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { abortAfter, abortReason, sleep } from "../../../kernel/runtime/abort.ts";

/** Sockets of a sandbox's network that belong to this process. */
export interface NamespaceSockets {
  readonly listeners: readonly Server[];
  readonly questions: UdpSocket;
}

/**
 * Runs in the network of the sandbox: opens the sockets, hands them over, and ends before anything uses them. Only the
 * channel to us keeps it alive: where we were killed while a socket is on its way, it is not told that the channel has
 * been closed.
 */
const script = `
process.on("disconnect", () => process.exit(1));
const { createServer } = require("node:net");
const ports = JSON.parse(process.argv[1]);
let left = ports.length + 1;
const send = (kind, socket) => process.send({ kind }, socket, () => { if (--left === 0) process.exit(0); });
for (const port of ports) {
  const server = createServer().unref();
  server.listen({ port, host: "0.0.0.0", backlog: 128 }, () => send("listener", server));
}
const questions = require("node:dgram").createSocket("udp4").unref();
questions.bind(53, "0.0.0.0", () => send("questions", questions));
`;

export interface WantedSockets {
  readonly nsenter: string;
  readonly pid: number;
  readonly ports: readonly number[];
  /** Whether its network belongs to a user namespace of its own. */
  readonly hasOwnUsers: boolean;
}

const openMs = 15_000;

/**
 * Opens a listener for each port and a socket for questions to a name server in the network of a process, which must
 * not run anything yet. Rejects with SPAWN_FAILED, or the signal's reason.
 */
export async function openSockets(
  { nsenter, pid, ports, hasOwnUsers }: WantedSockets,
  signal: AbortSignal,
): Promise<NamespaceSockets> {
  await untilMapped(pid, signal);
  const users = hasOwnUsers ? ["--user", "--preserve-credentials"] : [];
  const enter = ["--target", String(pid), "--net", ...users];
  const child = spawn(nsenter, [...enter, process.execPath, "-e", script, JSON.stringify(ports)], {
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    env: {},
    timeout: openMs,
  });
  const listeners: Server[] = [];
  let questions: UdpSocket | undefined;
  let said = "";
  child.stderr?.on("data", (chunk: Buffer) => (said = `${said}${chunk.toString()}`.slice(-2_000)));
  child.on("message", ({ kind }: { readonly kind: "listener" | "questions" }, socket) => {
    // A name may have port 53 as well, over TCP.
    if (kind === "questions") questions = socket as UdpSocket;
    else listeners.push(socket as Server);
  });
  const stop = (): void => void child.kill("SIGKILL");
  signal.addEventListener("abort", stop, { once: true });
  const code = await new Promise<number | string | null>((done) => {
    child.once("error", (error) => done(error.message));
    child.once("close", done);
  });
  signal.removeEventListener("abort", stop);
  if (questions !== undefined && listeners.length === ports.length && !signal.aborted) return { listeners, questions };
  questions?.close();
  for (const server of listeners) server.close();
  if (signal.aborted) throw abortReason(signal);
  const lines = said.split("\n").filter((line) => /(?:Error: |nsenter: )/.test(line));
  const why = lines[0]?.slice(0, 200) ?? `code ${String(code)}`;
  throw new GatewayError("SPAWN_FAILED", `the network of a sandbox could not be opened (${why.slice(0, 200)})`);
}

const lookMs = 2;

/**
 * Waits until bubblewrap has said which user the process is. A process that enters before is no user that the kernel
 * knows, and loses the right to open ports when it starts a program.
 */
async function untilMapped(pid: number, signal: AbortSignal): Promise<void> {
  const limit = abortAfter(openMs, signal);
  while ((await readFile(`/proc/${pid}/uid_map`, "utf8").catch(() => "ended")) === "") await sleep(lookMs, limit);
}
