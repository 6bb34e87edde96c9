import { spawn } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { until } from "../harness/until.ts";

const file = fileURLToPath(new URL("../../node_modules/mcp-remote/dist/proxy.js", import.meta.url));

/** Several of it start at once, and each is a large program: on a busy machine that takes minutes. */
const patientMs = 300_000;

/** mcp-remote, as Claude Desktop and others start it, and the client before it. */
export interface RemoteFront extends AsyncDisposable {
  /** Sends one request. Resolves to its answer, error or not. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came back
  ask(method: string, params?: object): Promise<any>;
  /** The address that it asks its person to open, the newest: waits until there are `count`. */
  asked(count?: number): Promise<string>;
  readonly timesAsked: number;
  /** What it says to whoever looks at its log. */
  log(): string;
}

export interface RemoteFrontOptions {
  readonly url: string;
  /** Where it keeps its logins: processes that share one share them. */
  readonly home: string;
  readonly flags?: readonly string[];
}

export async function startRemoteFront({ url, home, flags = [] }: RemoteFrontOptions): Promise<RemoteFront> {
  // No browser of this machine is found there: the test opens the address itself.
  await mkdir(join(home, "bin"), { recursive: true });
  const child = spawn(process.execPath, [file, url, "--allow-http", "--transport", "http-only", ...flags], {
    env: { PATH: join(home, "bin"), HOME: home, MCP_REMOTE_CONFIG_DIR: join(home, "auth") },
    stdio: "pipe",
  });
  let log = "";
  let gone = false;
  child.stderr.on("data", (chunk: Buffer) => (log += chunk.toString()));
  child.once("close", () => (gone = true));
  child.stdin.on("error", () => undefined);
  const answers = new Map<number, unknown>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line) as { readonly id?: number; readonly method?: string };
    if (message.id !== undefined && message.method === undefined) answers.set(message.id, message);
  });
  let lastId = 0;
  const addresses = (): readonly string[] =>
    [...log.matchAll(/visit(?:ing)?:\s+(?:\[\d+\]\s+)?(http\S+)/g)].map(([, address = ""]) => address);
  const send = (message: object): void => void child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

  const ask: RemoteFront["ask"] = async (method, params = {}) => {
    lastId += 1;
    const id = lastId;
    send({ id, method, params });
    return await until(() => {
      if (gone && !answers.has(id)) throw new Error(`mcp-remote ended:\n${log}`);
      return answers.get(id) as object | undefined;
    }, patientMs);
  };
  return {
    ask,
    async asked(count = 1) {
      return await until(() => {
        if (gone) throw new Error(`mcp-remote ended:\n${log}`);
        return addresses()[count - 1];
      }, patientMs);
    },
    get timesAsked() {
      return addresses().length;
    },
    log: () => log,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await until(() => gone, patientMs);
    },
  };
}

/** The handshake of the client before it; revision 2025-11-25, as Claude Desktop has it. */
export async function initialize(front: RemoteFront): Promise<void> {
  const params = {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "claude-ai", version: "0.1.0" },
  };
  const { result } = await front.ask("initialize", params);
  if (result?.serverInfo === undefined) throw new Error(front.log());
}
