import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { send } from "../../test/harness/rpc.ts";
import type { MakeShape } from "./hostile-shapes.ts";
import { clientMethods, restRoutes, type InputRow } from "./input-rows.ts";

/** A running gateway with a server that does what its orders say. */
export interface World {
  readonly url: string;
  readonly configFile: string;
  readonly config: { readonly mcpServers: Readonly<Record<string, object>> };
  readonly orders: string;
  /** The gateway's home directory, in which clients keep their files. */
  readonly home: string;
}

const json = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const quietMs = 250;

/** Sends one input of one shape, and waits until the gateway has done with it whatever it does. */
export async function driveRow(world: World, row: InputRow, make: MakeShape): Promise<void> {
  if (row.who === "client") await driveClient(world, row, make(row.bytes));
  else if (row.who === "member") await driveRoutes(world, row, make(row.bytes));
  else if (row.who === "server") await driveServer(world, row, make);
  else await driveFile(world, row, make(row.bytes));
  await new Promise((resolve) => setTimeout(resolve, quietMs));
}

/** `written` is JSON. */
const rpcBody = (method: string, written: string): string =>
  `{"jsonrpc":"2.0",${method.startsWith("notifications/") ? "" : '"id":1,'}"method":"${method}","params":${written}}`;

const execute = (path: string, args: string): string =>
  rpcBody("tools/call", `{"name":"execute_mcp_tool","arguments":{"tool_path":${path},"arguments":${args}}}`);

async function post(url: string, body: string): Promise<void> {
  await send(url, { headers: json, body }).catch(() => undefined);
}

async function driveClient({ url }: World, { what, shapes }: InputRow, shape: string): Promise<void> {
  const endpoint = `${url}/mcp`;
  const written = shapes === "text" ? JSON.stringify(shape).slice(0, 4_190_000) : shape;
  const text = shapes === "text" && !written.endsWith('"') ? `${written.replace(/\\u?[\da-f]{0,4}$/i, "")}"` : written;
  const parameter = clientMethods[what];
  if (parameter !== undefined) await post(endpoint, rpcBody(what, `{"${parameter}":${text}}`));
  else if (what === "header") await ask("GET", endpoint, undefined, { "x-said": header(shape) });
  else if (what === "authorization")
    await ask("GET", endpoint, undefined, { authorization: `Bearer ${header(shape)}` });
  else if (what === "address") await ask("GET", `${url}/${header(shape)}`);
  else if (what === "body") await post(endpoint, text);
  else if (what === "batch") await post(endpoint, `[${text}]`);
  else if (what === "execute_mcp_tool.tool_path") await post(endpoint, execute(text, "{}"));
  else if (what === "execute_mcp_tool.arguments")
    await post(endpoint, execute('"good:echo"', `{"message":"x","y":${text}}`));
  else if (what === "discover_mcp_tools.query")
    await post(endpoint, rpcBody("tools/call", `{"name":"discover_mcp_tools","arguments":{"query":${text}}}`));
  else if (what === "read_mcp_resource.uri")
    await post(endpoint, rpcBody("tools/call", `{"name":"read_mcp_resource","arguments":{"uri":${text}}}`));
  else throw new Error(`nobody knows how to send ${what}`);
}

interface Documented {
  readonly requestBody?: {
    readonly content: Readonly<
      Record<string, { readonly schema: { readonly properties?: Readonly<Record<string, object>> } }>
    >;
  };
}

/** Every route of REST, with the members that its document says it has. What stops a gateway is not asked for. */
async function driveRoutes({ url }: World, { what }: InputRow, shape: string): Promise<void> {
  const { json: document } = await send(`${url}/openapi.json`, { method: "GET" });
  for (const route of restRoutes()) {
    const [method = "", path = ""] = route.split(" ");
    if (/stop|drain|shutdown|restart$|backup/.test(path)) continue;
    const filled = what.endsWith("its address") ? header(shape) : "x";
    const address = url + path.replace(/\{[^}]+\}|\*$/g, filled);
    const operation = document.paths[path]?.[method.toLowerCase()] as Documented | undefined;
    const members = Object.keys(operation?.requestBody?.content["application/json"]?.schema.properties ?? {});
    if (what.endsWith("its address")) await ask(method, `${address}?q=${filled.slice(0, 2_000)}`);
    else if (method === "GET") continue;
    else if (what.endsWith("its body")) await ask(method, address, `{"x":${shape}}`);
    else await ask(method, address, JSON.stringify(Object.fromEntries(members.map((member) => [member, shape]))));
  }
}

/** Node takes 16 KiB of headers in all. */
const header = (text: string): string =>
  encodeURIComponent(Buffer.from(text.slice(0, 12_000)).toString())
    .slice(0, 12_000)
    .replace(/%.?$/, "");

async function ask(
  method: string,
  url: string,
  body?: string,
  more: Readonly<Record<string, string>> = {},
): Promise<void> {
  const headers = {
    ...more,
    ...(body === undefined ? {} : { ...json, "content-length": String(Buffer.byteLength(body)) }),
  };
  const answer = send(url, { method, headers, ...(body === undefined ? {} : { body }) }).catch(() => undefined);
  // Streams do not end.
  await Promise.race([answer, new Promise((resolve) => setTimeout(resolve, 2_000).unref())]);
}

/** Starts the server anew with its orders, and asks for everything that what it says may be in. */
async function driveServer(world: World, { what, items = 1, bytes, shapes }: InputRow, make: MakeShape): Promise<void> {
  const most = bytes / items;
  const write = (size: number): string => (shapes === "text" ? JSON.stringify(make(size)) : make(size));
  // What is escaped is longer, and what is longer than a message may be is not looked at.
  const longer = Buffer.byteLength(write(most)) / most;
  const written = longer > 1 ? write(Math.max(1, Math.floor(most / longer) - 64)) : write(most);
  if (!isJson(written)) return;
  // In one step: the server reads them at each request.
  await writeFile(`${world.orders}.new`, JSON.stringify({ place: what, count: items, json: written }));
  await rename(`${world.orders}.new`, world.orders);
  const slug = what.startsWith("http.") ? "distant" : "hostile";
  await ask("POST", `${world.url}/api/instances/${slug}/restart`);
  const endpoint = `${world.url}/mcp`;
  await post(
    endpoint,
    execute(`"${slug}:tool_0"`, "{}").replace('"arguments":{}}}', '"arguments":{}},"_meta":{"progressToken":"t"}}'),
  );
  await post(endpoint, execute(`"${slug}:nosuch"`, "{}"));
  await post(
    endpoint,
    rpcBody("tools/call", '{"name":"discover_mcp_tools","arguments":{"query":"tool quick 漢 ABC"}}'),
  );
  await post(`${endpoint}/flat`, rpcBody("tools/list", "{}"));
  await post(`${endpoint}/flat`, rpcBody("resources/list", "{}"));
  await post(`${endpoint}/flat`, rpcBody("prompts/list", "{}"));
  await post(`${endpoint}/flat`, rpcBody("resources/read", `{"uri":"toolyard://${slug}/x%3A0"}`));
  await post(`${endpoint}/flat`, rpcBody("prompts/get", `{"name":"${slug}-p0"}`));
  await post(`${endpoint}/flat`, rpcBody("logging/setLevel", '{"level":"debug"}'));
  const ref = `{"type":"ref/prompt","name":"${slug}-p0"}`;
  await post(`${endpoint}/flat`, rpcBody("completion/complete", `{"ref":${ref},"argument":{"name":"a","value":"x"}}`));
  for (const path of ["/api/servers", `/api/servers/${slug}`, "/api/status", "/api/tools", "/api/instances"])
    await ask("GET", world.url + path);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const apply = JSON.stringify({ apply: true });

/** Has the dashboard's page of clients read such a file, change it, and take that back. */
async function driveClientFile({ url, home }: World, shape: string): Promise<void> {
  await writeFile(join(home, ".claude.json"), shape);
  await send(`${url}/api/clients`, { method: "GET" }).catch(() => undefined);
  for (const action of ["connect", "undo"])
    await send(`${url}/api/clients/claude-code/${action}`, { headers: json, body: apply }).catch(() => undefined);
  await send(`${url}/api/import`, { headers: json, body: "{}" }).catch(() => undefined);
}

/** Replaces the configuration, or the file that an entry of it names, and puts it back. */
async function driveFile(world: World, { what }: InputRow, shape: string): Promise<void> {
  const { configFile, config } = world;
  if (what.startsWith("client")) return await driveClientFile(world, shape);
  const good = JSON.stringify(config);
  const replace = async (text: string): Promise<void> => {
    await writeFile(`${configFile}.new`, text);
    await rename(`${configFile}.new`, configFile);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
  };
  if (what.startsWith("configuration")) await replace(shape);
  else {
    await writeFile(`${configFile}.env`, shape);
    const entry = { command: "x", enabled: false, envFile: `${configFile}.env` };
    await replace(JSON.stringify({ mcpServers: { ...config.mcpServers, filled: entry } }));
  }
  await replace(good);
}
