import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { clientMethods, inputRows, notInputs, restRoutes, smallInputs } from "../../bench/stalls/input-rows.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const covered = new Set(inputRows.flatMap(({ covers = [] }) => covers));

/** The code of every file below a folder that is no test, without comments. */
function sourcesOf(folder: string): readonly { readonly file: string; readonly code: string }[] {
  return readdirSync(root + folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .map((name) => `${folder}/${name.replaceAll("\\", "/")}`)
    .map((file) => ({ file, code: readFileSync(root + file, "utf8").replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, "") }));
}

const groups =
  "tools|resources|prompts|skills|completion|server|subscriptions|logging|tasks|elicitation|sampling|roots";
const methodName = new RegExp(`"((?:${groups}|notifications)/[A-Za-z_/]+|ping|initialize)"`, "g");

function methodsIn(...folders: readonly string[]): readonly string[] {
  const found = folders.flatMap((folder) =>
    sourcesOf(folder).flatMap(({ code }) => [...code.matchAll(methodName)].map(([, name = ""]) => name)),
  );
  return [...new Set(found)].sort();
}

/** Sent to clients, and never read from one; answers of clients are a row of their own. */
const toClients = [
  ...["elicitation/create", "sampling/createMessage"],
  ...["notifications/elicitation/complete", "notifications/message", "notifications/resources/updated"],
  ...["notifications/subscriptions/acknowledged", "notifications/tasks/status", "notifications/tools/list_changed"],
];
/** Sent to servers, with an answer that is a list, which its items cover, or none that is read. */
const toServers = [
  ...["initialize", "prompts/list", "resources/list", "resources/templates/list"],
  ...["notifications/initialized", "notifications/subscriptions/acknowledged"],
  ...["tasks/cancel", "tasks/get", "tasks/list", "tasks/update"],
];

describe("every input that a peer controls is driven by bench/stalls.ts", () => {
  test("what clients call", () => {
    const missing = methodsIn("src/front/mcp").filter(
      (method) => !covered.has(`mcp:${method}`) && !toClients.includes(method),
    );
    expect(missing).toEqual([]);
    expect(Object.keys(clientMethods).length).toBeGreaterThan(20);
  });

  test("what servers answer, tell and ask", () => {
    const said = (method: string): readonly string[] =>
      ["answer", "notice", "question"].map((kind) => `${kind}:${method}`);
    const missing = methodsIn("src/servers", "src/engine").filter(
      (method) => !said(method).some((name) => covered.has(name)) && !toServers.includes(method),
    );
    expect(missing).toEqual([]);
  });

  test("every shape that says what a server may write", () => {
    const shapes = sourcesOf("src/wire/mcp").flatMap(({ code }) =>
      [...code.matchAll(/^export const (\w+): Shape\b/gm)].map(([, name = ""]) => name),
    );
    expect(shapes).toContain("toolShape");
    expect(shapes.filter((name) => !covered.has(`shape:${name}`))).toEqual([]);
  });

  test("every place where bytes come in", () => {
    const reading =
      /\.on\("data"|\breadBody\(|\bsendWhole\(|\bfetch\((?![)"])|AsyncIterable<Buffer>|\breadFile(?:Sync)?\(|\breadSync\(|\breadText\(\w*(?:path|file)|\bonBody\(/i;
    const readers = sourcesOf("src")
      .filter(({ file, code }) => !/^src\/(?:cli|store)\//.test(file) && reading.test(code))
      .map(({ file }) => file);
    const listed = { ...notInputs, ...smallInputs };
    expect(readers.filter((file) => !covered.has(`reads:${file}`) && listed[file] === undefined)).toEqual([]);
    // A file that reads no more, or is gone, leaves the tables.
    const named = [...covered].filter((name) => name.startsWith("reads:")).map((name) => name.slice(6));
    expect([...named, ...Object.keys(listed)].filter((file) => !readers.includes(file))).toEqual([]);
  });

  test("what is too small to be driven has the limit that is said of it", () => {
    const limits = sourcesOf("src/servers/logins").find(({ file }) => file.endsWith("login-route.ts"))?.code ?? "";
    for (const [file, limit] of Object.entries(smallInputs))
      expect(file.includes("/logins/") ? limits : readFileSync(root + file, "utf8")).toContain(limit);
  });

  test("every route of REST, because none is named", () => {
    const driven = restRoutes(`${root}test/golden/files/openapi.json`);
    const operations = sourcesOf("src/operations").flatMap(({ code }) => [
      ...code.matchAll(/\broute: "([A-Z]+ \/[^"]*)"/g),
    ]);
    const routes = sourcesOf("src/front/rest").flatMap(({ code }) => [
      ...code.matchAll(/\bmethod: "([A-Z]+)",\s+path: "([^"]*)"/g),
    ]);
    expect(operations.length).toBeGreaterThan(100);
    expect(operations.map(([, route = ""]) => route).filter((route) => !driven.includes(route))).toEqual([]);
    // Those that the description leaves out are documents that take nothing.
    const others = routes.map(([, method = "", path = ""]) => `${method} ${path}`);
    expect(others.filter((route) => !driven.includes(route) && !route.startsWith("GET "))).toEqual([]);
  });
});
