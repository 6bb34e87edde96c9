import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { execute, modernRpc, rpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { modernStream, openSession } from "./stream.ts";

const skillServer = fileURLToPath(new URL("../servers/skill-server.mjs", import.meta.url));

interface Entry {
  readonly uri: string;
  readonly frontmatter: { readonly name: string; readonly description: string };
  readonly resources: readonly { readonly uri: string; readonly digest: string; readonly size: number }[];
}

const sha256 = (text: string): string => `sha256:${createHash("sha256").update(text).digest("hex")}`;
const skillText = (name: string, description: string, more = ""): string =>
  `---\nname: ${name}\ndescription: ${description}\n${more}---\n# ${name}\n`;

let directory: string;
let gateway: RunningGateway;

async function write(server: string, file: string, text: string): Promise<void> {
  const path = join(directory, server, file);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

/** A server for the skills of the folder that is called like it. */
function folderServer(name: string, ...flags: string[]): { command: string; args: string[] } {
  return { command: process.execPath, args: [skillServer, "--folder", join(directory, name), ...flags] };
}

const listSkills = async (path = "/mcp", base = gateway.url): Promise<readonly Entry[]> =>
  (await modernRpc(base + path, "skills/list")).json.result?.skills ?? [];

async function readContents(
  uri: string,
  path = "/mcp",
): Promise<readonly { readonly uri: string; readonly text: string }[]> {
  return (await modernRpc(gateway.url + path, "resources/read", { uri })).json.result.contents;
}

const readText = async (uri: string): Promise<string> => (await readContents(uri))[0]?.text ?? "";

/** One of the four tools; the JSON that its text is. */
// oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came back
async function callMeta(name: string, args: object, base = gateway.url): Promise<any> {
  const answer = await rpc(`${base}/mcp`, "tools/call", { name, arguments: args });
  return JSON.parse(answer.json.result.content[0].text);
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "toolyard-skills-"));
  await write(
    "billing",
    "acme/refunds/SKILL.md",
    skillText(
      "refunds",
      "Gives customers their money back after a complaint. Look up with find_payment first",
      'allowed-tools: ["refund_payment", "shop:ship_parcel", "Bash", "nobody_has_this"]\n',
    ),
  );
  await write("billing", "acme/refunds/examples/email.md", "Dear customer,\nyour money comes back.\n");
  await write("billing", "hidden/SKILL.md", skillText("hidden", "Is served and listed nowhere"));
  await write("shop", "acme/refunds/SKILL.md", skillText("refunds", "Takes parcels back and refunds them"));
  await write("own", "docs/refunds/SKILL.md", skillText("refunds", "Explains refunds of the documents"));
  await write("own", "docs/refunds/guide.md", "A guide\n");
  gateway = await startGateway({
    config: {
      mcpServers: {
        billing: folderServer("billing", "--tool", "refund_payment", "--tool", "find_payment", "--unlisted", "hidden"),
        shop: { ...folderServer("shop", "--legacy", "--tool", "ship_parcel", "--tool", "refund_payment") },
        own: folderServer("own", "--scheme", "docs"),
        sleeping: { ...folderServer("billing"), idleTimeoutMs: 100 },
      },
      toolyard: { instances: { idleGraceMs: 0, idleCheckMs: 100 } },
    },
  });
  await until(async () => (await listSkills()).length === 5);
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

test("MUST: two servers' skills of one name stay two, each with its own files [SEP-2640]", async () => {
  for (const path of ["/mcp", "/mcp/flat", "/mcp/namespaces"]) {
    const entries = await listSkills(path);
    expect(entries.map(({ uri }) => uri)).toEqual([
      "skill://billing/acme/refunds/SKILL.md",
      "skill://shop/acme/refunds/SKILL.md",
      "toolyard://own/raw/docs://docs/refunds/SKILL.md",
      "skill://sleeping/acme/refunds/SKILL.md",
      "skill://sleeping/hidden/SKILL.md",
    ]);
    for (const { uri, frontmatter, resources } of entries) {
      expect(uri.endsWith(`/${frontmatter.name}/SKILL.md`)).toBe(true);
      expect(resources.map((file) => file.uri)).toContain(uri);
      for (const file of resources) {
        const [content] = await readContents(file.uri, path);
        const text = content?.text ?? "";
        expect(content?.uri).toBe(file.uri);
        expect({ digest: sha256(text), size: Buffer.byteLength(text) }).toEqual({
          digest: file.digest,
          size: file.size,
        });
      }
    }
  }
});

test("what a SKILL.md refers to is found by resolving it against the skill's own address", async () => {
  const [billing, , own] = (await listSkills()) as [Entry, Entry, Entry];
  expect(await readText(new URL("examples/email.md", billing.uri).href)).toContain("your money comes back");
  expect(await readText(new URL("guide.md", own.uri).href)).toBe("A guide\n");
});

test("MUST NOT: an address of one server's skill is never read from another [SEP-2640]", async () => {
  // Two servers list it, and one has a name that could be meant.
  const either = await modernRpc(`${gateway.url}/mcp`, "resources/read", { uri: "skill://acme/refunds/SKILL.md" });
  expect(either.json.error.data.uris).toEqual([
    "billing|skill://acme/refunds/SKILL.md",
    "shop|skill://acme/refunds/SKILL.md",
    "sleeping|skill://acme/refunds/SKILL.md",
  ]);
  const elsewhere = await modernRpc(`${gateway.url}/mcp`, "resources/read", {
    uri: "skill://shop/acme/refunds/examples/email.md",
  });
  expect(elsewhere.json.error.code).toBe(-32602);
  // Only one lists it: then its own address is enough.
  expect(await readText("docs://docs/refunds/guide.md")).toBe("A guide\n");
});

test("every address that is given out is read by read_mcp_resource, which says whose skill it is", async () => {
  const listed = await callMeta("list_mcp_resources", { query: "refunds" });
  const found = await callMeta("discover_mcp_tools", { query: "give a customer the money back" });
  const addresses = [
    ...listed.resources.flatMap((row: { uri: string; native_uri: string }) => [row.uri, row.native_uri]),
    ...found.skills.map(({ uri }: { uri: string }) => uri),
    ...(await listSkills()).flatMap(({ resources }) => resources.map(({ uri }) => uri)),
  ] as readonly string[];
  expect(listed.resources).toContainEqual({
    uri: "billing|skill://acme/refunds/SKILL.md",
    native_uri: "skill://billing/acme/refunds/SKILL.md",
    name: "refunds",
    description: expect.stringContaining("money back"),
    mimeType: "text/markdown",
    server_name: "billing",
  });
  expect(addresses.length).toBeGreaterThan(12);
  for (const uri of addresses) {
    const answer = await rpc(`${gateway.url}/mcp`, "tools/call", { name: "read_mcp_resource", arguments: { uri } });
    const { resource } = answer.json.result.content[0];
    const server = /^(?:(?:skill|toolyard):\/\/)?([a-z]+)/.exec(uri)?.[1];
    expect(resource.uri).toContain(`://${server}/`);
    expect(resource.text.length).toBeGreaterThan(5);
  }
});

test("discover finds a skill beside tools, with the tools that it names and that exist here", async () => {
  const found = await callMeta("discover_mcp_tools", { query: "give a customer the money back after a complaint" });
  expect(found.skills[0]).toEqual({
    kind: "skill",
    uri: "skill://billing/acme/refunds/SKILL.md",
    name: "refunds",
    description: expect.stringContaining("Gives customers their money back"),
    server_name: "billing",
    relevance_score: expect.any(Number),
    tools: ["billing:refund_payment", "shop:ship_parcel", "billing:find_payment"],
  });
  expect(found.hint).toContain("read_mcp_resource");
  expect(found.tools.every((tool: object) => "tool_path" in tool)).toBe(true);
});

test("a search of one server finds that server's skills only", async () => {
  const query = "take a parcel back and refund it";
  const one = await callMeta("discover_mcp_tools", { query, server: "shop" });
  expect(one.skills.map(({ uri }: Entry) => uri)).toEqual(["skill://shop/acme/refunds/SKILL.md"]);
  // Of the tools that it names, only those that the question allows: a name that sends is not believed to read.
  const readOnly = await callMeta("discover_mcp_tools", { query: "money back complaint", readOnly: true });
  expect(readOnly.skills[0].tools).toContain("billing:find_payment");
  expect(readOnly.skills[0].tools).not.toContain("billing:refund_payment");
});

test("a question that no skill answers is answered as if there were none", async () => {
  const found = await callMeta("discover_mcp_tools", { query: "announce" });
  expect(found.tools.length).toBeGreaterThan(0);
  expect(found).not.toHaveProperty("skills");
  expect(found.hint ?? "").not.toContain("skill");
});

test("a sleeping server's skills are listed and found as usual, and a read wakes it", async () => {
  const isDormant = async (): Promise<boolean> =>
    (await callMeta("discover_mcp_tools", { query: "" })).servers.find(
      (row: { server: string }) => row.server === "sleeping",
    ).status === "dormant";
  await until(isDormant);
  const listed = (await listSkills()).filter(({ uri }) => uri.startsWith("skill://sleeping/"));
  const found = await callMeta("discover_mcp_tools", { query: "money back complaint", server: "sleeping" });
  expect(found.skills[0].uri).toBe("skill://sleeping/acme/refunds/SKILL.md");
  expect(await isDormant()).toBe(true);
  const { skill } = (await modernRpc(`${gateway.url}/mcp`, "skills/get", { uri: listed[0]?.uri })).json.result;
  const { _meta, ...entry } = listed[0] as Entry & { readonly _meta: object };
  expect(skill).toEqual(entry);
  expect(_meta).toEqual({ "toolyard/server": "sleeping" });
});

test.each(["billing", "shop"])(
  "MUST: a changed skill is announced, listed with its new digests, and read as it is now [SEP-2640] (%s)",
  async (server) => {
    const session = await openSession(`${gateway.url}/mcp`);
    const pushed = await session.listen();
    const listening = await modernStream(`${gateway.url}/mcp`, "listen", "subscriptions/listen", {
      notifications: { resourcesListChanged: true },
    });
    await listening.next(({ method }) => method === "notifications/subscriptions/acknowledged");
    await write(server, "acme/refunds/SKILL.md", skillText("refunds", "Changed: pays back twice"));
    await write(server, "acme/refunds/rules.md", "New rules\n");
    await execute(gateway.url, `${server}:announce`);
    const changed = ({ method }: { method?: string }): boolean => method === "notifications/resources/list_changed";
    await pushed.next(changed);
    await listening.next(changed);
    const uri = `skill://${server}/acme/refunds/SKILL.md`;
    const entry = (await listSkills()).find((one) => one.uri === uri);
    expect(entry?.frontmatter.description).toBe("Changed: pays back twice");
    expect(entry?.resources.map((file) => file.uri)).toContain(`skill://${server}/acme/refunds/rules.md`);
    expect(entry?.resources.find((file) => file.uri === uri)?.digest).toBe(sha256(await readText(uri)));
    const found = await callMeta("discover_mcp_tools", { query: "pays back twice", server });
    expect(found.skills[0].uri).toBe(uri);
    pushed.close();
    listening.close();
  },
);

test("skills are there at once after a restart, before the server is asked again", async () => {
  const folder = await mkdtemp(join(tmpdir(), "toolyard-skills-restart-"));
  const server = { ...folderServer("own", "--scheme", "docs"), idleTimeoutMs: 60_000 };
  const options = { config: { mcpServers: { own: server } }, directory: folder };
  const first = await startGateway(options);
  const before = await until(async () => {
    const skills = await modernRpc(`${first.url}/mcp`, "skills/list");
    return (skills.json.result?.skills as readonly Entry[] | undefined)?.length === 1 && skills.json.result.skills;
  });
  await first.stop();
  // The server would not start any more: what is listed comes from the disk.
  const gone = { mcpServers: { own: server } };
  await rm(join(directory, "own"), { recursive: true });
  const second = await startGateway({ config: gone, directory: folder });
  expect(await listSkills("/mcp", second.url)).toEqual(before);
  await second[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const entryOf = (name: string, more: object = {}): object => ({
  uri: `skill://${name}/SKILL.md`,
  frontmatter: { name, description: `What ${name} does` },
  resources: [{ uri: `skill://${name}/SKILL.md`, digest: sha256(name), size: 10 }],
  ...more,
});

async function gatewayFor(entries: readonly unknown[]): Promise<RunningGateway> {
  const file = join(directory, `${entries.length}.json`);
  await writeFile(file, JSON.stringify(entries));
  const started = await startGateway({
    config: { mcpServers: { bad: badServer("--skills", "--skills-json", file, "--tool-name", "one") } },
  });
  await until(async () => JSON.stringify(await execute(started.url, "bad:one")).includes("content"));
  return started;
}

test("MUST NOT: entries that are malformed or too large are left out, with the reason [SEP-2640]", async () => {
  const file = (at: number, size = 1): object => ({ uri: `skill://large/${at}.md`, digest: sha256(`${at}`), size });
  const own = { uri: "skill://large/SKILL.md", digest: sha256("large"), size: 1 };
  const files = (count: number): object[] => [own, ...Array.from({ length: count - 1 }, (_, at) => file(at))];
  const refused: readonly (readonly [unknown, string])[] = [
    ["no object", "is no object"],
    [{}, "its uri is not that of a SKILL.md"],
    [entryOf("readme", { uri: "skill://readme/README.md" }), "its uri is not that of a SKILL.md"],
    [entryOf("long", { uri: `skill://${"a/".repeat(1_100)}long/SKILL.md` }), "its uri is longer than 2048 characters"],
    [entryOf("plain", { frontmatter: undefined }), "has no frontmatter"],
    [entryOf("nameless", { frontmatter: { description: "d" } }), "its frontmatter has no name"],
    [entryOf("mute", { frontmatter: { name: "mute", description: " " } }), "its frontmatter has no description"],
    [entryOf("other", { frontmatter: { name: "popular", description: "d" } }), "its name is not that of its folder"],
    [
      entryOf("wordy", { frontmatter: { name: "wordy", description: "word ".repeat(7_000) } }),
      "its frontmatter is longer than 32768 characters",
    ],
    [entryOf("bare", { resources: undefined }), "its resources are neither a list nor the word dynamic"],
    [entryOf("empty", { resources: [] }), "its resources lack its SKILL.md"],
    [entryOf("large", { resources: files(513) }), "it has more than 512 files"],
    [entryOf("large", { resources: [own, file(1, 16 * 2 ** 20)] }), "its files take more than 16777216 bytes"],
    [entryOf("large", { resources: [own, own] }), "a file is listed twice"],
    [entryOf("large", { resources: [own, { ...own, uri: "skill://other/x.md" }] }), "a file is not in its folder"],
    [entryOf("large", { resources: [{ ...own, digest: "sha256:no" }] }), "a file has no SHA-256 digest"],
    [entryOf("large", { resources: [{ ...own, size: -1 }] }), "a file has no size"],
  ];
  const good = [
    entryOf("good"),
    entryOf("made", { resources: "dynamic" }),
    entryOf("large", { resources: files(512) }),
  ];
  await using started = await gatewayFor([...refused.map(([entry]) => entry), ...good, entryOf("good")]);
  const entries = await listSkills("/mcp", started.url);
  expect(entries.map(({ frontmatter }) => frontmatter.name)).toEqual(["good", "made", "large"]);
  expect(entries[1]?.resources).toBe("dynamic");
  for (const [, reason] of refused) expect(started.stderr()).toContain(reason);
  expect(started.stderr()).toContain("listed twice; the first is kept");
  expect(JSON.stringify(await execute(started.url, "bad:one"))).toContain("content");
});

test("of ten thousand skills two thousand are listed, in pages, and the server's tools are not affected", async () => {
  const all = Array.from({ length: 10_000 }, (_, at) => entryOf(`skill-${at}`));
  await using started = await gatewayFor(all);
  const names: string[] = [];
  let cursor: string | undefined;
  do {
    const params = cursor === undefined ? {} : { cursor };
    const { result } = (await modernRpc(`${started.url}/mcp`, "skills/list", params)).json;
    names.push(...(result.skills as readonly Entry[]).map(({ frontmatter }) => frontmatter.name));
    cursor = result.nextCursor;
  } while (cursor !== undefined);
  expect(names).toEqual(all.slice(0, 2_000).map((_, at) => `skill-${at}`));
  expect(started.stderr()).toContain("skills/list is cut: more than 2000 items");
  const found = await callMeta("discover_mcp_tools", { query: "what does skill-1999 do" }, started.url);
  expect(found.skills.length).toBeLessThanOrEqual(3);
});

test("MUST NOT: no file of a skill is read before somebody asks for it [SEP-2640]", async () => {
  const record = join(directory, "record.jsonl");
  await using started = await startGateway({
    config: { mcpServers: { bad: badServer("--skills", "--resources", "--record", record) } },
  });
  const skills = await until(async () => {
    const { result } = (await modernRpc(`${started.url}/mcp`, "skills/list")).json;
    return result !== undefined && result.skills.length === 1 && (result.skills as readonly Entry[]);
  });
  await callMeta("discover_mcp_tools", { query: "money back" }, started.url);
  expect(await readFile(record, "utf8")).not.toContain("resources/read");
  await modernRpc(`${started.url}/mcp`, "resources/read", { uri: skills[0]?.uri });
  expect(await readFile(record, "utf8")).toContain("resources/read");
});
