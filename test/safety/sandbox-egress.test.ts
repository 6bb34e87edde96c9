import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer as createHttpServer, type Server as HttpServer } from "node:http";
import { createServer, type AddressInfo, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer as createTlsServer } from "node:tls";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { makeCertificates } from "../harness/certificates.ts";
import { get } from "../harness/rest.ts";
import { until } from "../harness/until.ts";
import { openInside, openSocketsOf, type Inside } from "./inside.ts";

const preload = fileURLToPath(new URL("../harness/named-hosts.mjs", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "toolyard-egress-"));
const secure = "93.184.216.34";
const plain = "93.184.216.35";
const metadata = "169.254.169.254";

let inside: Inside;
let servers: Server[];
let env: Readonly<Record<string, string>>;
let dbPort: number;
/** What reached any of the servers. */
let reached: string[] = [];

const portOf = async (server: Server): Promise<number> =>
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)));

beforeAll(async () => {
  makeCertificates(folder, ["api.example.com"]);
  const key = readFileSync(join(folder, "server-key.pem"));
  const cert = readFileSync(join(folder, "server.pem"));
  const web = createTlsServer({ key, cert }, (socket) => socket.end(`tls for ${String(socket.servername)}`));
  const http: HttpServer = createHttpServer((request, response) => {
    reached.push(`http ${request.headers.host}`);
    response.end(`http for ${request.headers.host}`);
  });
  // Speaks first, as databases do.
  const db = createServer((socket) => socket.end("db says hello"));
  web.on("connection", () => reached.push("tls"));
  db.on("connection", () => reached.push("db"));
  for (const server of [web, http, db]) server.on("error", () => undefined);
  servers = [web, http, db];
  const [webPort, httpPort] = [await portOf(web), await portOf(http)];
  dbPort = await portOf(db);
  env = {
    NODE_OPTIONS: `--import ${preload}`,
    TOOLYARD_TEST_HOSTS: JSON.stringify({
      "api.example.com": secure,
      "a.cdn.example.com": plain,
      "other.example.com": secure,
      "rebinding.example.com": metadata,
      "private.example.com": "10.0.0.5",
      "loop.example.com": "127.0.0.1",
      "mixed.example.com": [plain, metadata],
      "db.internal": "127.0.0.1",
    }),
    TOOLYARD_TEST_ROUTES: JSON.stringify({
      [secure]: webPort,
      [plain]: httpPort,
      [metadata]: httpPort,
      "10.0.0.5": httpPort,
    }),
  };
});
afterEach(async () => {
  reached = [];
  await inside?.[Symbol.asyncDispose]();
});
afterAll(() => {
  for (const server of servers) server.close();
  rmSync(folder, { recursive: true });
});

async function open(network: unknown): Promise<void> {
  inside = await openInside({ sandbox: { network }, env });
}

/** What comes back on a connection to a host, or the code of its error; `first` is what is sent. */
const talk = (host: string, port: number, first = "") => `return await new Promise((done) => {
  const socket = net.connect({ host: ${JSON.stringify(host)}, port: ${port} });
  let text = "";
  socket.on("connect", () => socket.write(${JSON.stringify(first)}));
  socket.on("data", (chunk) => (text += chunk)).on("error", (error) => done(error.code)).on("close", () => done(text));
})`;
const secured = (host: string, name: string) => `return await new Promise((done) => {
  const socket = tls.connect({ host: ${JSON.stringify(host)}, port: 443, servername: ${JSON.stringify(name)}, rejectUnauthorized: false });
  let text = "";
  socket.on("data", (chunk) => (text += chunk)).on("error", (error) => done(error.code)).on("close", () => done(text));
})`;
const getText = (host: string) => `GET / HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`;
const facts = async () => JSON.parse((await get(`${inside.gateway.url}/api/servers/inside`)).text).sandbox;

describe("43 a server reaches the hosts of its list by name, and nothing else:", () => {
  test("TLS, HTTP and a port of its own; with fetch, which asks no proxy", async () => {
    await open(["api.example.com", "*.cdn.example.com", `db.internal:${dbPort}`]);
    expect(await inside.run(secured("api.example.com", "api.example.com"))).toBe("tls for api.example.com");
    expect(await inside.run(`return await (await fetch("http://a.cdn.example.com/")).text()`)).toBe(
      "http for a.cdn.example.com",
    );
    expect(await inside.run(talk("db.internal", dbPort))).toBe("db says hello");
    // The answer comes although the server has said that it sends no more.
    expect(await inside.run(talk("A.CDN.example.com", 80, getText("a.cdn.example.com")))).toContain(
      "http for a.cdn.example.com",
    );
    expect((await facts()).denied).toEqual([]);
  });

  test("other names, addresses, IPv6, ports, and all of this machine are refused; its page says what", async () => {
    await open(["api.example.com"]);
    expect(await inside.run(talk("other.example.com", 443))).toBe("ENOTFOUND");
    for (const address of [secure, plain, "1.1.1.1", "::1", "2606:4700:4700::1111", "127.0.0.1"])
      expect(await inside.run(talk(address, 8_080)), address).toMatch(/^(?:ENETUNREACH|ECONNREFUSED|EADDRNOTAVAIL)$/);
    expect(await inside.run(talk("api.example.com", 22))).toBe("ECONNREFUSED");
    expect(await inside.run(`return await dns.resolve6("api.example.com").catch((e) => e.code)`)).toBe("ENODATA");
    const { denied } = await until(async () => ((await facts()).denied.length > 0 ? await facts() : undefined));
    expect(denied).toMatchObject([{ host: "other.example.com", port: null, why: "it is not in sandbox.network" }]);
    expect(inside.gateway.stderr() + inside.gateway.stdout()).toContain("inside may not reach other.example.com");
    expect(reached).toEqual([]);
  });

  test("also where a name has the port of name servers, which the gateway answers at itself", async () => {
    await open(["api.example.com", "dns.example.com:53"]);
    expect(await inside.run(secured("api.example.com", "api.example.com"))).toBe("tls for api.example.com");
  });

  test("a connection that says that it is for another host, or for none", async () => {
    await open(["api.example.com", "a.cdn.example.com"]);
    expect(await inside.run(secured("api.example.com", "other.example.com"))).not.toContain("tls for");
    expect(await inside.run(talk("a.cdn.example.com", 80, getText("other.example.com")))).not.toContain("http for");
    expect(await inside.run(talk("a.cdn.example.com", 80, "hello, this is no HTTP\r\n\r\n"))).not.toContain("http for");
    expect(
      await inside.run(talk("a.cdn.example.com", 80, `GET / HTTP/1.1\r\nhost: a.cdn.example.com\r\nhost: x\r\n\r\n`)),
    ).not.toContain("http for");
    // By the address that another of its names has inside.
    const address = await inside.run(`return (await dns.lookup("api.example.com")).address`);
    expect(address).toMatch(/^127\.0\.\d+\.\d+$/);
    expect(await inside.run(secured(String(address), "a.cdn.example.com"))).not.toContain("tls for");
    expect(reached).toEqual([]);
  });

  test("names that lead to metadata, private networks, or this machine", async () => {
    await open(["*", "rebinding.example.com:80"]);
    for (const host of ["rebinding.example.com", "private.example.com", "loop.example.com"])
      expect(await inside.run(talk(host, 80, getText(host))), host).not.toContain("http for");
    expect(await inside.run(talk("mixed.example.com", 80, getText("mixed.example.com")))).toContain("http for");
    expect(await inside.run(talk("mixed.example.com", 80, getText("mixed.example.com")))).not.toContain("http for");
    expect(reached).toEqual(["http mixed.example.com"]);
    const { denied } = await facts();
    expect(denied.map(({ host }: { host: string }) => host)).toContain("private.example.com");
  });
});

describe("44 questions for names are answered within bounds:", () => {
  test("junk, and 10,000 questions for names that are refused or allowed", async () => {
    await open(["*.example.com"]);
    const ask = `
      const socket = dgram.createSocket("udp4");
      let answers = 0;
      socket.on("message", () => { answers += 1; });
      const send = (b) => new Promise((done) => socket.send(b, 53, "127.0.0.1", () => done()));
      const question = (name) => Buffer.concat([Buffer.from([0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]),
        ...name.split(".").map((l) => Buffer.concat([Buffer.from([l.length]), Buffer.from(l)])), Buffer.from([0, 0, 1, 0, 1])]);
      for (let n = 0; n < 300; n += 1) await send(Buffer.from(Array.from({ length: n }, () => Math.random() * 256)));
      for (let n = 0; n < 10000; n += 1) {
        await send(question(n % 2 ? "n" + n + ".example.com" : "n" + n + ".evil.test"));
        if (n % 50 === 0) await new Promise((r) => setTimeout(r, 5));
      }
      await new Promise((r) => setTimeout(r, 200));
      socket.close();
      return answers;`;
    expect(await inside.run(ask)).toBeGreaterThan(1_000);
    expect((await facts()).denied.length).toBeLessThanOrEqual(10);
    expect(await inside.run(secured("api.example.com", "api.example.com"))).toBe("tls for api.example.com");
  });

  test("nothing of the network is left when the server has ended", async () => {
    await open(["api.example.com"]);
    expect(await inside.run(secured("api.example.com", "api.example.com"))).toBe("tls for api.example.com");
    const pid = inside.gateway.process.pid ?? 0;
    const sockets = () => inside.gateway.process.exitCode ?? openSocketsOf(pid);
    const before = sockets();
    for (let n = 0; n < 5; n += 1) {
      await inside.run("process.exit(0)").catch(() => undefined);
      await until(async () => (await inside.run("return 1").catch(() => 0)) === 1);
    }
    await until(() => sockets() <= before);
  });
});
