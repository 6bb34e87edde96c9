import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runCommand } from "../../harness/command.ts";
import { badServer } from "../../harness/gateway.ts";
import { execute, rpc, send } from "../../harness/rpc.ts";
import { until } from "../../harness/until.ts";
import { discover, faultyServer, startFaulty, untilOnline } from "../servers/faulty-gateway.ts";

const secrets = {
  env: "canary-env-5e1f",
  variable: "canary-variable-77aa",
  header: "canary-header-90bc",
  user: "canary-user-1b2c",
  password: "canary-password-3d4e",
  query: "canary-query-6f70",
};

/** Every secret, also as it looks in a URL, in base64 and inside JSON. */
function found(text: string): string[] {
  return Object.entries(secrets).flatMap(([name, secret]) =>
    text.includes(secret) || text.includes(Buffer.from(secret).toString("base64")) ? [name] : [],
  );
}

async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

test("secrets of the configuration are in no output: not in stdout, stderr, answers or files", async () => {
  const remote = await faultyServer("http legacy", "--require-auth", "another-token");
  const broken = await faultyServer("http modern", "--http-status", "500");
  const url = new URL(remote.entry["url"] as string);
  url.username = secrets.user;
  url.password = secrets.password;
  url.searchParams.set("api_key", secrets.query);
  const closed = new URL(url);
  closed.port = "9";
  const crashing = `process.stderr.write("my token is " + process.env.TOKEN + "\\n" + JSON.stringify(process.env) + "\\n"); setTimeout(() => process.exit(3), 50)`;
  const gateway = await startFaulty({
    servers: {
      talks: { ...badServer(), env: { TOKEN: secrets.env, OTHER: "${SECRET_VARIABLE}" } },
      crashes: { command: process.execPath, args: ["-e", crashing], env: { TOKEN: secrets.env } },
      "no-command": { command: "no-such-command-anywhere", env: { TOKEN: secrets.env } },
      locked: { type: "http", url: url.href, headers: { Authorization: `Bearer ${secrets.header}` } },
      closed: { type: "http", url: closed.href, headers: { "X-Key": secrets.header } },
      broken: { ...broken.entry, headers: { "X-Key": secrets.header } },
    },
    env: { SECRET_VARIABLE: secrets.variable },
    args: ["--log-level", "debug"],
  });
  try {
    await gateway.stillServes();
    const answers: string[] = [];
    const ask = async (text: Promise<unknown>): Promise<void> => void answers.push(JSON.stringify(await text));
    await until(async () =>
      (await discover(gateway, { query: "" })).servers.every((row: { status: string }) => row.status !== "connecting"),
    );
    for (const slug of ["crashes", "no-command", "locked", "closed", "broken"])
      await ask(execute(gateway.url, `${slug}:x`));
    await ask(discover(gateway, { query: "" }));
    await ask(discover(gateway, { query: "x" }));
    for (const slug of ["talks", "crashes", "locked"]) {
      for (const method of ["initialize", "tools/list", "resources/list", "server/discover"])
        await ask(rpc(`${gateway.url}/mcp/server/${slug}`, method).then((answer) => answer.text));
    }
    // The server writes its own secret to stderr, and dies of an exception that holds it.
    await ask(execute(gateway.url, "talks:stderr", { text: `leaks ${secrets.env} and ${secrets.variable}` }));
    await until(() => gateway.logged("leaks").length > 0);
    await ask(execute(gateway.url, "talks:exit", { code: 7 }));
    await until(() => gateway.logged("permanently_failed").length > 0, 60_000);
    await ask(execute(gateway.url, "crashes:x"));
    expect(found(answers.join("\n"))).toEqual([]);
    expect(found(gateway.stdout())).toEqual([]);
    expect(found(gateway.stderr())).toEqual([]);
    for (const file of await filesBelow(join(gateway.directory, "data"))) {
      // The gateway runs: a file that it was writing may have its name by now.
      const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return "";
        throw error;
      });
      expect({ file, found: found(text) }).toEqual({ file, found: [] });
    }
  } finally {
    await gateway.endsClean();
    await gateway[Symbol.asyncDispose]();
    await remote[Symbol.asyncDispose]();
    await broken[Symbol.asyncDispose]();
  }
}, 300_000);

test("FAULT 88: what variables bring into a command or directory is in no reason why the server does not start", async () => {
  const value = secrets.variable;
  const gateway = await startFaulty({
    servers: {
      command: { command: "/nowhere/${SECRET_VARIABLE}/server" },
      directory: { ...badServer(), cwd: "/nowhere/${SECRET_VARIABLE}" },
      argument: { command: process.execPath, args: ["/nowhere/${SECRET_VARIABLE}.mjs"] },
    },
    env: { SECRET_VARIABLE: value },
    args: ["--log-level", "debug"],
  });
  const slugs = ["command", "directory", "argument"];
  const flags = ["--config", gateway.configFile, "--data-dir", join(gateway.directory, "data")];
  try {
    const shown: string[] = [];
    await until(async () => {
      const { servers } = await discover(gateway, { query: "" });
      shown.push(JSON.stringify(servers));
      return slugs.every((slug) =>
        servers.some(
          (row: { server: string; reason?: string }) =>
            row.server === slug && /cannot be started|cannot start|exited/.test(row.reason ?? ""),
        ),
      );
    });
    for (const slug of slugs) {
      shown.push(JSON.stringify(await execute(gateway.url, `${slug}:x`)));
      const restarted = await runCommand(["restart", slug, ...flags]);
      shown.push(restarted.stdout, restarted.stderr);
    }
    shown.push((await runCommand(["status", ...flags])).stdout);
    shown.push((await send(`${gateway.url}/api/servers`, { method: "GET" })).text);
    await until(() => slugs.every((slug) => gateway.stderr().includes(`"msg":"${slug}: `)));
    shown.push(gateway.stderr());
    expect(shown.filter((text) => text.includes(value))).toEqual([]);
    expect(shown.join("\n")).toContain("[redacted]");
  } finally {
    await gateway.endsClean();
    await gateway[Symbol.asyncDispose]();
  }
});

test("a secret of several lines is not shown line by line; plain words of an environment stay in the log", async () => {
  const lines = ["MIIEvQIBADANBgkqhkiG9w0", "BAQEFAASCBKcwggSjAgEAAo"];
  const pem = `-----BEGIN PRIVATE KEY-----\n${lines.join("\n")}\n-----END PRIVATE KEY-----\n`;
  const gateway = await startFaulty({
    servers: {
      talks: { ...badServer(), env: { PEM: pem, STAGE: "connecting" } },
      asks: { command: "x", env: { TOKEN: "${input:tok}" } },
    },
    args: ["--log-level", "debug"],
  });
  try {
    await untilOnline(gateway, "talks");
    await execute(gateway.url, "talks:stderr", { text: `${pem}end of key` });
    await until(() => gateway.logged("end of key").length > 0);
    for (const line of lines) expect(gateway.stderr()).not.toContain(line);
    expect(gateway.logged("-> connecting").length).toBeGreaterThan(0);
    expect(gateway.stderr()).toContain("there is no one to ask here: set TOOLYARD_INPUT_TOK");
  } finally {
    await gateway.endsClean();
    await gateway[Symbol.asyncDispose]();
  }
});
