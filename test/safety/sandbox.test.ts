import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { get } from "../harness/rest.ts";
import { execute } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { insideServer, makeHome, openInside, type Inside, type InsideOptions } from "./inside.ts";

let inside: Inside;

async function open(sandbox: unknown, more: Omit<InsideOptions, "sandbox"> = {}): Promise<Inside> {
  return (inside = await openInside({ sandbox, ...more }));
}

afterEach(async () => await inside?.[Symbol.asyncDispose]());

const quoted = JSON.stringify;

async function sandboxOf({ gateway }: Inside): Promise<unknown> {
  return JSON.parse((await get(`${gateway.url}/api/servers/inside`)).text).sandbox;
}

describe("40 a confined server sees nothing of its user's secrets, of other processes and their sockets:", () => {
  test("keys, the data directory, the configuration, sockets by path and by abstract name", async () => {
    const listener = createServer((socket) => socket.end("reached"));
    const abstract = `toolyard-test-${process.pid}`;
    await new Promise<void>((resolve) => listener.listen(`\0${abstract}`, resolve));
    await open({ network: [] });
    const { home, directory, run } = inside;
    for (const path of [join(home, ".ssh/id_rsa"), join(directory, "data"), join(directory, "toolyard.json"), home])
      expect(await run(`return fs.readdirSync(${quoted(path)})`), path).toMatch(/^failed: (?:ENOENT|ENOTDIR)/);
    expect(await run(`return fs.readFileSync("/etc/shadow", "utf8").length`)).toMatch(/^0$|^failed: EACCES/);
    for (const path of ["/run/docker.sock", "/var/run/docker.sock", "/run/dbus/system_bus_socket"])
      expect(await run(`return fs.existsSync(${quoted(path)})`)).toBe(false);
    const reach = (options: string) =>
      `return await new Promise((done) => net.connect(${options}).on("error", (e) => done(e.code)).on("data", (d) => done(String(d))))`;
    expect(await run(reach(`{ path: "\\0${abstract}" }`))).toBe("ECONNREFUSED");
    listener.close();
  });

  test("other processes cannot be seen, stopped or read, and what the gateway knows is in no environment", async () => {
    await open({ network: [] }, { env: { GATEWAY_SECRET: "not for servers" } });
    const { run, gateway } = inside;
    const pid = gateway.process.pid ?? 0;
    expect(await run(`process.kill(${pid}, 0)`)).toMatch(/^failed: ESRCH/);
    const seen = await run(
      `return fs.readdirSync("/proc").filter((n) => /^\\d+$/.test(n)).map((n) => fs.readFileSync("/proc/" + n + "/environ", "latin1") + fs.readFileSync("/proc/" + n + "/cmdline", "latin1"))`,
    );
    expect((seen as string[]).length).toBeLessThan(6);
    expect(String(seen)).not.toContain("GATEWAY_SECRET");
    expect(String(seen)).not.toContain(join(inside.directory, "data"));
    expect(
      await run(
        `return fs.readdirSync("/proc/self/fd").map(Number).filter((fd) => fd > 2).map((fd) => { try { return fs.readlinkSync("/proc/self/fd/" + fd) } catch { return "" } }).filter((to) => to.startsWith("/") && !to.startsWith("/dev/"))`,
      ),
    ).toEqual([]);
    expect(await run(`return fs.readFileSync("/proc/self/status", "utf8").match(/^CapEff:\\s*(.*)$/m)[1]`)).toMatch(
      /^0+$/,
    );
    expect(
      await run(`return child_process.spawnSync("unshare", ["--user", "--map-root-user", "true"]).status !== 0`),
    ).toBe(true);
    expect(await run("return [process.getuid() > 0, os.homedir()]")).toEqual([true, "/sandbox"]);
  });

  test("nothing outside can be written, and what it writes to its own home is there at the next start", async () => {
    await open({ network: [] });
    const { run } = inside;
    for (const path of ["/usr/x", "/etc/x", "/bin/x", insideServer])
      expect(await run(`fs.writeFileSync(${quoted(path)}, "x")`)).toMatch(/^failed: (?:EROFS|EACCES)/);
    await run(`fs.writeFileSync(os.homedir() + "/kept", "mine")`);
    await inside.again();
    expect(await inside.run(`return fs.readFileSync(os.homedir() + "/kept", "utf8")`)).toBe("mine");
    expect(existsSync(join(inside.home, "kept"))).toBe(false);
  });

  test("variables that a loader or a shell would obey reach the server, and nothing before it", async () => {
    const mark = join(await makeHome(), "ran");
    const said = { SHELLOPTS: "xtrace", PS4: `$(touch ${mark})`, BASH_ENV: mark, LD_BIND_NOW: "1" };
    await open({ network: [] }, { entry: { env: said } });
    expect(
      await inside.run(
        "const { SHELLOPTS, PS4, BASH_ENV, LD_BIND_NOW } = process.env; return { SHELLOPTS, PS4, BASH_ENV, LD_BIND_NOW }",
      ),
    ).toEqual(said);
    expect(existsSync(mark)).toBe(false);
  });

  test("what its entry names it does see: arguments and roots to read, `write` to write, `read` even below a home", async () => {
    const directory = await makeHome();
    for (const name of ["argument", "root", "out"]) mkdirSync(join(directory, "files", name), { recursive: true });
    writeFileSync(join(directory, "files/argument/a"), "argument");
    writeFileSync(join(directory, "files/root/a"), "root");
    const files = join(directory, "files");
    await open(
      { network: [], write: [join(files, "out")], read: ["~"] },
      { directory, entry: { args: [insideServer, join(files, "argument")], roots: [join(files, "root")] } },
    );
    const read = (path: string) => inside.run(`return fs.readFileSync(${quoted(path)}, "utf8")`);
    expect(await read(join(files, "argument/a"))).toBe("argument");
    expect(await read(join(files, "root/a"))).toBe("root");
    expect(await read(join(directory, "home/notes.txt"))).toBe("notes");
    // A wider folder does not open what is private in it.
    expect(await read(join(directory, "home/.ssh/id_rsa"))).toMatch(/^failed: ENOENT/);
    expect(await inside.run(`fs.writeFileSync(${quoted(join(files, "argument/b"))}, "")`)).toMatch(/^failed: EROFS/);
    await inside.run(`fs.writeFileSync(${quoted(join(files, "out/b"))}, "written")`);
    expect(readFileSync(join(files, "out/b"), "utf8")).toBe("written");
  });
});

describe("41 links are followed once, when the server is started:", () => {
  test("a link to the whole system shows neither data directory nor keys", async () => {
    const directory = await makeHome();
    symlinkSync("/", join(directory, "everything"));
    await open({ network: [], read: [join(directory, "everything")] }, { directory });
    for (const path of ["data", "toolyard.json", "home/.ssh/id_rsa"])
      for (const start of [directory, join(directory, "everything", directory)]) {
        const found = await inside.run(
          `const p = ${quoted(join(start, path))}; return fs.statSync(p).isDirectory() ? fs.readdirSync(p).length : fs.readFileSync(p, "utf8").length`,
        );
        expect(found === 0 || String(found).startsWith("failed: ENOENT"), `${start}/${path}: ${String(found)}`).toBe(
          true,
        );
      }
    for (const socket of ["/run", join(directory, "everything/run")])
      expect(await inside.run(`return fs.readdirSync(${quoted(socket)})`), socket).toMatch(/^failed: ENOENT/);
  });

  test("a folder that the server itself replaces by a link leads nowhere at its next start", async () => {
    const directory = await makeHome();
    mkdirSync(join(directory, "out/sub"), { recursive: true });
    const sub = join(directory, "out/sub");
    const entry = { args: [insideServer, sub] };
    await open({ network: [], write: [join(directory, "out")] }, { directory, entry });
    await inside.run(
      `fs.rmdirSync(${quoted(sub)}); fs.symlinkSync(${quoted(join(directory, "home/.ssh"))}, ${quoted(sub)})`,
    );
    await inside.again();
    expect(await inside.run(`return fs.readdirSync(${quoted(sub)})`)).toMatch(/^failed: ENOENT/);
  });

  test.each([
    ["the data directory", "data"],
    ["all that is above it", "."],
    ["the configuration", "toolyard.json"],
    ["keys", "home/.ssh"],
    ["the home, with the start files of shells", "home"],
    ["a link to keys", "link"],
  ])("`write` never covers %s", async (_, path) => {
    const directory = await makeHome();
    symlinkSync(join(directory, "home/.ssh"), join(directory, "link"));
    mkdirSync(join(directory, "data"));
    writeFileSync(join(directory, "home/.bashrc"), "");
    await open({ network: [], write: [join(directory, path)] }, { directory });
    await expect(inside.run("return 1")).rejects.toThrow(/SANDBOX_REFUSED|would cover/);
  });
});

describe("46 where the machine cannot confine, a server that is to be confined is not started:", () => {
  /** A PATH with some programs and no others. */
  async function pathWith(directory: string, programs: Readonly<Record<string, string | undefined>>): Promise<string> {
    const folder = join(directory, "bin");
    mkdirSync(folder);
    for (const name of ["node", "sh", "head", "tr", "grep", "sleep", "nsenter", "bwrap"]) {
      if (name in programs && programs[name] === undefined) continue;
      const file = join(folder, name);
      if (programs[name] === undefined) symlinkSync(name === "node" ? process.execPath : `/usr/bin/${name}`, file);
      else writeFileSync(file, programs[name]);
      if (programs[name] !== undefined) chmodSync(file, 0o755);
    }
    return folder;
  }

  const refusing = "#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2\nexit 1\n";

  test.each([
    ["bubblewrap is missing", { bwrap: undefined }, /bubblewrap is not installed/],
    ["the system refuses namespaces", { bwrap: refusing }, /No permissions to create a new namespace/],
    ["nsenter is missing", { nsenter: undefined }, /nsenter/],
  ])("%s", async (_, programs, why) => {
    const directory = await makeHome();
    const marker = join(directory, "started");
    const entry = { args: ["-e", `require("fs").writeFileSync(${quoted(marker)}, "")`] };
    await open(true, { directory, entry, env: { PATH: await pathWith(directory, programs) } });
    await expect(inside.run("return 1")).rejects.toThrow(why);
    await expect(inside.run("return 1")).rejects.toThrow(/SANDBOX_UNAVAILABLE|sandbox/i);
    expect(existsSync(marker)).toBe(false);
  });

  test("`require` holds for servers that say nothing, and for those that say no", async () => {
    const directory = await makeHome();
    const env = { PATH: await pathWith(directory, { bwrap: undefined }) };
    await open(false, { directory, env, settings: { sandbox: { mode: "require" } } });
    await expect(inside.run("return 1")).rejects.toThrow(/bubblewrap is not installed/);
  });

  test("`auto` starts one without, which its page says, and confines it where that can be done", async () => {
    const directory = await makeHome();
    const settings = { sandbox: { mode: "auto" } };
    const env = { PATH: await pathWith(directory, { bwrap: undefined }) };
    await open(undefined, { directory, env, settings });
    expect(await inside.run("return os.homedir()")).toBe(inside.home);
    expect(await sandboxOf(inside)).toMatchObject({ unconfinedWhy: "bubblewrap is not installed" });
    await inside.gateway[Symbol.asyncDispose]();
    rmSync(join(directory, "bin"), { recursive: true });
    await open(undefined, { directory, settings });
    expect(await inside.run("return os.homedir()")).toBe("/sandbox");
    expect(await sandboxOf(inside)).toMatchObject({ unconfinedWhy: null });
  });
});

test("49 a server cannot call the gateway that started it, unless it shares the network", async () => {
  await open(true);
  const { port } = new URL(inside.gateway.url);
  const ask = `return await fetch("http://127.0.0.1:${port}/health").then((r) => r.status, (e) => e.cause?.code)`;
  expect(await inside.run(ask)).toBe("ECONNREFUSED");
  expect(await inside.run(ask.replace("127.0.0.1", "localhost"))).toBe("ECONNREFUSED");
  await inside[Symbol.asyncDispose]();
  await open({ network: [] });
  expect(await inside.run(ask.replace(port, new URL(inside.gateway.url).port))).toBe("ECONNREFUSED");
  await inside[Symbol.asyncDispose]();
  await open({ network: "host" });
  expect(await inside.run(ask.replace(port, new URL(inside.gateway.url).port))).toBeGreaterThan(199);
});

describe("42 limits hold, and others go on:", () => {
  test("2 GB of memory, a full /tmp, and many files", async () => {
    await open({ network: [], memoryMb: 256, tmpMb: 8 });
    const grow = `const a = []; for (let n = 0; n < 100; n += 1) a.push(Buffer.alloc(20e6, 1)); console.log("grown")`;
    const grown = `return String(child_process.spawnSync(process.execPath, ["-e", ${quoted(grow)}]).stdout)`;
    expect(await inside.run(grown)).toBe("");
    const fill = `const b = Buffer.alloc(1e6); for (let n = 0; ; n += 1) fs.writeFileSync("/tmp/" + n, b)`;
    expect(await inside.run(fill)).toMatch(/^failed: ENOSPC/);
    expect(await inside.run(`return fs.readdirSync("/tmp").length`)).toBeLessThan(20);
    await inside.run(`for (let n = 0; n < 20_000; n += 1) fs.writeFileSync("/tmp/empty" + n, "")`);
    await inside.run("process.exit(0)").catch(() => undefined);
    await until(async () => Number(await inside.run("return fs.readdirSync('/tmp').length").catch(() => 99)) < 10);
  });

  test("a fork bomb gets no further than its limit, and another server answers meanwhile", async () => {
    const other = { command: process.execPath, args: [insideServer] };
    await open({ network: [], processes: 16 }, { others: { other } });
    const bomb = `
      fs.writeFileSync("/tmp/bomb.sh", "bomb() { bomb | bomb & }; bomb; sleep 5");
      child_process.spawn("bash", ["/tmp/bomb.sh"], { stdio: "ignore" });
      await new Promise((r) => setTimeout(r, 1500));
      return fs.readdirSync("/proc").filter((n) => /^\\d+$/.test(n)).length`;
    const counting = inside.run(bomb).catch((error: Error) => error.message);
    for (let asked = 0; asked < 20; asked += 1)
      expect(await execute(inside.gateway.url, "other:run", { code: `return ${asked}` })).not.toHaveProperty("isError");
    const counted = await counting;
    // It is stopped by the kernel at its limit, and killed as a whole by the watchdog then.
    if (typeof counted === "number") expect(counted).toBeLessThanOrEqual(16 * 8 + 4);
    else expect(counted).toMatch(/killed|exited|closed|failed/);
    await until(async () => (await inside.run("return 1").catch(() => 0)) === 1);
  });
});
