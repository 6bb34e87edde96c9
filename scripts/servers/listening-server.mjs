// A server that is reached at an address, ended and started again at the same one.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

// Starting takes a second at most; this only keeps a server that never listens from holding the run for ever.
const waitLimit = { attempts: 300, pauseMs: 100 };

/**
 * @param {readonly string[]} args of Node; the port follows
 * @returns {Promise<{ url: string, restart: () => Promise<void>, stop: () => Promise<void> }>}
 */
export async function startServer(args) {
  const port = await freePort();
  let child = await start();

  async function start() {
    const started = spawn(process.execPath, [...args, String(port)], { stdio: "ignore" });
    for (let attempt = 0; attempt < waitLimit.attempts && started.exitCode === null; attempt += 1) {
      if (await accepts(port)) return started;
      await delay(waitLimit.pauseMs);
    }
    started.kill("SIGKILL");
    throw new Error(`${args.join(" ")} does not listen on port ${port}`);
  }

  async function stop() {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  }

  async function restart() {
    await stop();
    child = await start();
  }

  return { url: `http://127.0.0.1:${port}/mcp`, restart, stop };
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

async function accepts(port) {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
