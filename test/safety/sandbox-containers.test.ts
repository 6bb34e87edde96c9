import { mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { runCommand } from "../harness/command.ts";
import { until } from "../harness/until.ts";
import { image, openEngine, type Engine } from "./containers.ts";
import { insideServer, makeHome, openInside, type Inside, type InsideOptions } from "./inside.ts";

const preload = fileURLToPath(new URL("../harness/named-hosts.mjs", import.meta.url));
const address = "93.184.216.35";

describe.each(["podman", "docker"] as const)("a server in a container of %s", (kind) => {
  let engine: Engine;
  let inside: Inside;
  let web: Server;
  beforeAll(async () => {
    web = createServer((request, response) => response.end(`http for ${request.headers.host}`));
    await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
    engine = await openEngine(kind);
  });
  afterEach(async () => await inside?.[Symbol.asyncDispose]());
  afterAll(async () => {
    await engine?.close();
    web.close();
  });

  async function open(sandbox: object, more: Partial<InsideOptions> = {}): Promise<Inside> {
    return (inside = await openInside({
      sandbox: { engine: kind, image, network: [], ...sandbox },
      ...more,
      entry: { command: "node", args: [insideServer], ...more.entry },
      env: { ...engine.env, ...more.env },
    }));
  }
  const containers = (): readonly string[] =>
    engine
      .run("ps", "--all", "--format", "{{.Names}}")
      .split("\n")
      .filter((name) => name !== "");

  test("sees the image and what its entry names, and may do nothing more", async () => {
    const directory = await makeHome();
    for (const name of ["in", "out"]) mkdirSync(join(directory, name));
    await open(
      { read: [join(directory, "in"), join(directory, "home")], write: [join(directory, "out")] },
      { directory },
    );
    const { run, home } = inside;
    expect(await run("return fs.readdirSync('/usr/bin')")).toEqual(["node"]);
    for (const path of [join(home, ".ssh/id_rsa"), join(directory, "data/x"), join(directory, "toolyard.json")])
      expect(await run(`return fs.readFileSync(${JSON.stringify(path)}, "utf8")`), path).toMatch(/^failed: ENOENT/);
    expect(await run(`return fs.readFileSync(${JSON.stringify(join(home, "notes.txt"))}, "utf8")`)).toBe("notes");
    for (const path of ["/x", "/usr/x", join(directory, "in/x"), insideServer])
      expect(await run(`fs.writeFileSync(${JSON.stringify(path)}, "")`), path).toMatch(/^failed: EROFS/);
    await run(`fs.writeFileSync(${JSON.stringify(join(directory, "out/x"))}, "written")`);
    expect(readFileSync(join(directory, "out/x"), "utf8")).toBe("written");
    const status = String(await run(`return fs.readFileSync("/proc/self/status", "utf8")`));
    expect(status).toMatch(/^CapEff:\s*0+$/m);
    expect(status).toMatch(/^CapBnd:\s*0+$/m);
    expect(status).toMatch(/^NoNewPrivs:\s*1$/m);
    expect(await run("return fs.readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name)).length")).toBe(1);
    expect(await run("return os.homedir()")).toBe("/sandbox");
    await run(`fs.writeFileSync(os.homedir() + "/kept", "mine")`);
    await inside.again();
    expect(await inside.run(`return fs.readFileSync(os.homedir() + "/kept", "utf8")`)).toBe("mine");
  });

  test("has its variables, of which no command line tells", async () => {
    const value = "line one\nline two with a secret-7431";
    await open({}, { entry: { env: { SERVER_TOKEN: value, PATH: "/usr/bin:/bin" } } });
    expect(await inside.run("return process.env.SERVER_TOKEN")).toBe(value);
    const lines = readdirSync("/proc").flatMap((name) => {
      try {
        return /^\d+$/.test(name) ? [readFileSync(`/proc/${name}/cmdline`, "utf8")] : [];
      } catch {
        return [];
      }
    });
    expect(lines.filter((line) => line.includes("secret-7431"))).toEqual([]);
    await inside[Symbol.asyncDispose]();
    await open({}, { entry: { env: { LD_PRELOAD: "/tmp/x.so" } } });
    await expect(inside.run("return 1")).rejects.toThrow(/LD_PRELOAD/);
  });

  test("is held to its memory, processes and /tmp", async () => {
    await open({ memoryMb: 128, processes: 8, tmpMb: 8 });
    const fill = `const b = Buffer.alloc(1e6); for (let n = 0; ; n += 1) fs.writeFileSync("/tmp/" + n, b)`;
    expect(await inside.run(fill)).toMatch(/^failed: ENOSPC/);
    const bomb = `const started = [];
      for (let n = 0; n < 80; n += 1) {
        const one = child_process.spawn(process.execPath, ["-e", "setTimeout(() => 0, 1e6)"]);
        one.on("error", () => undefined);
        if (one.pid === undefined) break;
        started.push(one);
      }
      for (const one of started) one.kill("SIGKILL");
      return started.length`;
    // A process that the kernel kills for its memory takes the server with it, or not.
    const count = await inside.run(bomb).catch(() => 0);
    expect(count).toBeLessThan(80);
    await until(async () => (await inside.run("return 1").catch(() => 0)) === 1);
    const grow = `const a = []; for (let n = 0; n < 100; n += 1) a.push(Buffer.alloc(20e6, 1)); return "grown"`;
    expect(await inside.run(grow).catch(() => "ended")).not.toBe("grown");
  });

  test("has no network, or that of this machine, as its entry says", async () => {
    await open({});
    const ask = () => {
      const { port } = new URL(inside.gateway.url);
      return `return await fetch("http://127.0.0.1:${port}/health").then((r) => r.status, (e) => e.cause?.code)`;
    };
    expect(await inside.run(ask())).toBe("ECONNREFUSED");
    expect(await inside.run("return Object.keys(os.networkInterfaces())")).toEqual(["lo"]);
    await inside[Symbol.asyncDispose]();
    await open({ network: "host" });
    expect(await inside.run(ask())).toBeGreaterThan(199);
  });

  test("reaches hosts by name with podman, and is not started by docker where it would have to", async () => {
    const hosts = { "api.example.com": address, "other.example.com": address };
    const env = {
      NODE_OPTIONS: `--import ${preload}`,
      TOOLYARD_TEST_HOSTS: JSON.stringify(hosts),
      TOOLYARD_TEST_ROUTES: JSON.stringify({ [address]: (web.address() as AddressInfo).port }),
    };
    await open({ network: ["api.example.com"] }, { env });
    const fetched = (host: string) =>
      inside.run(`return await fetch("http://${host}/").then((r) => r.text(), (e) => e.cause?.code)`);
    if (kind === "docker") {
      await expect(fetched("api.example.com")).rejects.toThrow(/docker cannot be held to hosts by their names/);
      expect(containers()).toEqual([]);
      return;
    }
    expect(await fetched("api.example.com")).toBe("http for api.example.com");
    expect(await fetched("other.example.com")).toMatch(/ENOTFOUND|EAI_AGAIN/);
    expect(await inside.run(`return await fetch("http://${address}/").then(() => 1, (e) => e.cause?.code)`)).toMatch(
      /ENETUNREACH|ECONNREFUSED/,
    );
  });

  test("is removed with its gateway, and after kill -9 by the next one", async () => {
    await open({});
    expect(await inside.run("return 1")).toBe(1);
    expect(containers()).toHaveLength(1);
    await inside.again();
    expect(await inside.run("return 1")).toBe(1);
    await until(() => containers().length === 1);
    // It ends with its input: nothing but the gateway's end tells it.
    await inside.gateway.stop("SIGKILL");
    await until(() => containers().length === 0);
    await inside.again();
    // One that goes on after that.
    await inside.run("process.on('SIGTERM', () => undefined); setInterval(() => undefined, 1000); return 1");
    const [left] = containers();
    expect(left).toBeDefined();
    await inside.gateway.stop("SIGKILL");
    await inside.again();
    await until(() => !containers().includes(left ?? ""));
    await inside.gateway[Symbol.asyncDispose]();
    await until(() => containers().length === 0);
  });

  test("is not started where the image or the engine is missing, and the commands say so", async () => {
    await open({ image: "localhost/missing:none" });
    await expect(inside.run("return 1")).rejects.toThrow(/in an image that (?:docker|podman) does not have/);
    const options = ["--config", join(inside.directory, "toolyard.json"), "--data-dir", join(inside.directory, "d")];
    const explained = await runCommand(["sandbox", "explain", "inside", ...options], {
      HOME: inside.home,
      ...engine.env,
    });
    expect(explained.stdout).toContain(`inside runs in a sandbox (${kind} `);
    expect(explained.stdout).toContain("It sees the image localhost/missing:none");
    const doctor = await runCommand(["doctor", ...options], { HOME: inside.home, ...engine.env });
    expect(doctor.stdout).toContain(`servers can run in sandboxes (${kind} `);
    const bin = join(inside.directory, "bin");
    mkdirSync(bin);
    for (const name of ["node", "sh"])
      symlinkSync(name === "node" ? process.execPath : `/usr/bin/${name}`, join(bin, name));
    const lacking = await runCommand(["sandbox", "explain", "inside", ...options], { HOME: inside.home, PATH: bin });
    expect(lacking.stdout).toContain(`${kind} is not installed`);
    expect(lacking.code).toBe(1);
  });
});
