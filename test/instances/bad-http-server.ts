import { spawn } from "node:child_process";
import { badServerFile } from "../harness/gateway.ts";

export interface BadHttpServer extends AsyncDisposable {
  /** Of its MCP endpoint. */
  readonly url: string;
  readonly port: number;
}

/** The bad server over HTTP, on a port that stays the same when it is started again with it. */
export async function startBadHttpServer(port: number, ...flags: string[]): Promise<BadHttpServer> {
  const child = spawn(process.execPath, [badServerFile, "--http", "--port", String(port), ...flags], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  const url = await new Promise<string>((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      const found = /listening on (\S+)/.exec(text)?.[1];
      if (found !== undefined) resolve(found);
    });
    void exited.then(() => reject(new Error("the bad server ended")));
  });
  return {
    url,
    port: Number(new URL(url).port),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}
