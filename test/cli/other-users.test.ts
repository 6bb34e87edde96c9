import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { otherPeople } from "../../src/operations/machine/doctor/machine-users.ts";
import { badServer, startGateway } from "../harness/gateway.ts";
import { untilOnline } from "../harness/rest.ts";

/** What a program of another user gets of these addresses. */
async function asNobody(urls: readonly string[]): Promise<unknown> {
  const script = `const all = [];
    for (const [url, method, body] of ${JSON.stringify(urls.map((url) => [url, url.includes("/execute/") ? "POST" : "GET"]))}) {
      const headers = { "content-type": "application/json" };
      const answer = await fetch(url, { method, headers, ...(method === "POST" ? { body: "{}" } : {}) });
      all.push(answer.status);
    }
    console.log(JSON.stringify(all));`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    ...{ uid: 65_534, gid: 65_534, cwd: "/", env: { PATH: process.env["PATH"] ?? "" } },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let told = "";
  child.stdout.on("data", (chunk: Buffer) => (told += chunk.toString()));
  await new Promise((resolve) => child.once("close", resolve));
  return JSON.parse(told);
}

/** Only root can start a program as another user. */
test.runIf(process.platform === "linux" && process.getuid?.() === 0)(
  "FAULT M: another user of the machine gets nothing of a gateway without tokens but its health",
  async () => {
    await using gateway = await startGateway({ config: { mcpServers: { good: badServer("--tool-name", "echo") } } });
    await untilOnline(gateway.url);
    const paths = [
      "/execute/good%3Aecho",
      "/api/calls",
      "/api/servers/good",
      "/mcp",
      "/",
      "/ui/",
      "/metrics",
      "/healthz",
    ];
    const urls = paths.map((path) => `${gateway.url}${path}`);
    expect(await asNobody(urls)).toEqual([403, 403, 403, 403, 403, 403, 403, 200]);
    expect((await fetch(`${gateway.url}/api/calls`)).status).toBe(200);
    expect(gateway.stderr()).not.toContain("unhandled");
  },
);

test.runIf(process.platform === "linux" && process.getuid?.() === 0)(
  "where everybody is let in on purpose, or a token is asked for, it is not asked whose program it is",
  async () => {
    await using open = await startGateway({ config: { mcpServers: {} }, args: ["--insecure"] });
    expect(await asNobody([`${open.url}/api/servers`])).toEqual([200]);
  },
);

test("people are told apart from the accounts of services", () => {
  const passwd = [
    "root:x:0:0:root:/root:/bin/bash",
    "daemon:x:1:1::/:/usr/sbin/nologin",
    "ann:x:1000:1000::/home/ann:/bin/bash",
    "bob:x:1001:1001::/home/bob:/bin/zsh",
    "svc:x:1002:1002::/srv:/bin/false",
    "nobody:x:65534:65534::/:/bin/sh",
    "odd",
    "::::::",
    "",
  ].join("\n");
  expect(otherPeople(passwd, 1000)).toEqual(["bob"]);
  expect(otherPeople(passwd, 0)).toEqual(["ann", "bob"]);
  expect(otherPeople("x".repeat(64 * 1024), 0)).toEqual([]);
});
