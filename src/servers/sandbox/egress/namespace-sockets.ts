import { spawn } from "node:child_process";
import type { Socket as UdpSocket } from "node:dgram";
import type { Server } from "node:net";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { abortReason } from "../../../kernel/runtime/abort.ts";

/** Sockets of a sandbox's network that belong to this process. */
export interface NamespaceSockets {
  readonly listeners: readonly Server[];
  readonly questions: UdpSocket;
}

/** Runs in the network of the sandbox: opens the sockets, hands them over, and ends before anything uses them. */
const script = `
process.on("disconnect", () => process.exit(1));
const { createServer } = require("node:net");
const ports = JSON.parse(process.argv[1]);
let left = ports.length + 1;
const send = (what, socket) => process.send(what, socket, () => { if (--left === 0) process.exit(0); });
for (const port of ports) {
  const server = createServer();
  server.listen({ port, host: "0.0.0.0", backlog: 128 }, () => send({ port }, server));
}
const questions = require("node:dgram").createSocket("udp4");
questions.bind(53, "0.0.0.0", () => send({ port: 53 }, questions));
`;

const openMs = 15_000;

/**
 * Opens a listener for each port and a socket for questions to a name server in the network of a process, which must
 * not run anything yet. Rejects with SANDBOX_UNAVAILABLE, or the signal's reason.
 */
export async function openSockets(
  { nsenter, pid, ports }: { readonly nsenter: string; readonly pid: number; readonly ports: readonly number[] },
  signal: AbortSignal,
): Promise<NamespaceSockets> {
  const enter = ["--target", String(pid), "--user", "--net", "--preserve-credentials"];
  const child = spawn(nsenter, [...enter, process.execPath, "-e", script, JSON.stringify(ports)], {
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    env: {},
    timeout: openMs,
  });
  const listeners: Server[] = [];
  let questions: UdpSocket | undefined;
  let said = "";
  child.stderr?.on("data", (chunk: Buffer) => (said = `${said}${chunk.toString()}`.slice(-2_000)));
  child.on("message", ({ port }: { readonly port: number }, socket) => {
    if (port === 53) questions = socket as UdpSocket;
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
  const why =
    said
      .trim()
      .split("\n")
      .find((line) => line.includes("rror") || line.includes("nsenter")) ?? `code ${code}`;
  throw new GatewayError("SANDBOX_UNAVAILABLE", `the network of a sandbox could not be opened (${why.slice(0, 200)})`);
}
