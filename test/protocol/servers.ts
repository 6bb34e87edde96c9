import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { badServerFile } from "../harness/gateway.ts";

export interface HttpServer extends AsyncDisposable {
  readonly url: string;
}

/** A server on a port of its own. */
export async function startHttpServer(file: string, ...flags: readonly string[]): Promise<HttpServer> {
  const child = spawn(process.execPath, [file, ...flags], { stdio: ["ignore", "pipe", "inherit"] });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^listening on (\S+)$/.exec(line)?.[1];
    if (url === undefined) continue;
    return {
      url,
      async [Symbol.asyncDispose]() {
        child.kill("SIGKILL");
        await exited;
      },
    };
  }
  throw new Error(`${file} ended before it listened`);
}

/** The bad server over Streamable HTTP. */
export async function startBadHttp(...flags: readonly string[]): Promise<HttpServer> {
  return await startHttpServer(badServerFile, "--http", ...flags);
}

/** What the bad server wrote with --record. */
// oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever was received
export function readRecord(file: string): any[] {
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as unknown);
  } catch {
    return [];
  }
}
