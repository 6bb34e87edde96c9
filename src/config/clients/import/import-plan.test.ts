import { describe, expect, test } from "vitest";
import type { ClientId } from "../table/client-row.ts";
import { findClient } from "../table/client-table.ts";
import type { ImportedEntry } from "../connect/client-entry.ts";
import { isPreselected, marksOf } from "./command-marks.ts";
import { planImport, type ImportPlan, type PlanOptions } from "./import-plan.ts";
import { findLiteralSecrets } from "./literal-secrets.ts";
import type { FoundClient, FoundServer } from "./read-clients.ts";

type Given = Readonly<Partial<Record<ClientId, Readonly<Record<string, ImportedEntry>>>>>;

function foundIn(given: Given, more: Partial<FoundServer> = {}): readonly FoundClient[] {
  return Object.entries(given).map(([id, servers]) => ({
    row: findClient(id)!,
    files: [
      {
        path: `/${id}.json`,
        realPath: `/${id}.json`,
        scope: "user" as const,
        servers: Object.entries(servers).map(([name, entry], index) => ({
          ...{ name, entry, place: `/${id}.json:${index + 1}:1`, notes: [], project: undefined, gateway: undefined },
          ...more,
        })),
        problems: [],
      },
    ],
  }));
}

const nothing: PlanOptions = { present: [], env: {}, directory: "/config", sandboxMode: "off" };

function planned(given: Given, options: Partial<PlanOptions> = {}): ImportPlan {
  return planImport(foundIn(given), { ...nothing, ...options });
}

const keys = ({ servers }: ImportPlan) => servers.map(({ key }) => key);
const github = { command: "npx", args: ["-y", "server-github"] };

describe("servers of several clients", () => {
  test("the same server in several clients is one, and where it stands is told", () => {
    const plan = planned({
      cursor: { gh: { ...github, env: { A: "1", B: "${X}" } } },
      vscode: { github: { ...github, env: { B: "${env:X}", A: "1" } } },
    });
    expect(plan.servers.map(({ key, seen }) => [key, seen])).toEqual([
      [
        "gh",
        [
          { client: "Cursor", name: "gh", place: "/cursor.json:1:1" },
          { client: "VS Code", name: "github", place: "/vscode.json:1:1" },
        ],
      ],
    ]);
  });

  test("different servers of one name get different ones, also where a person could not tell them apart", () => {
    const plan = planned({
      cursor: { files: { command: "a" } },
      vscode: { Files: { command: "b" } },
      windsurf: { files: { command: "c" }, fіles: { command: "d" } },
    });
    expect(keys(plan)).toEqual(["files", "Files-vscode", "files-windsurf", "fіles-windsurf-2"]);
  });

  test("the same address with and without a slash is one server, with other headers another", () => {
    const plan = planned({
      cursor: { a: { url: "https://a/mcp" } },
      vscode: { a: { url: "https://a/mcp/" } },
      zed: { a: { url: "https://a/mcp", headers: { X: "1" } } },
    });
    expect(keys(plan)).toEqual(["a", "a-zed"]);
  });

  test("what our configuration has already is not taken over again, under whatever name", () => {
    const plan = planned(
      { cursor: { gh: github, files: { command: "x" } } },
      {
        present: [
          { key: "github", entry: github },
          { key: "files", entry: undefined },
        ],
      },
    );
    expect(plan.servers.map(({ key, presentAs }) => [key, presentAs])).toEqual([
      ["github", "github"],
      ["files-cursor", undefined],
    ]);
  });

  test("a server whose secret became a variable is known again", () => {
    const literal = { ...github, env: { TOKEN: "abcdef123" } };
    const [first] = planned({ cursor: { gh: literal } }).servers;
    const again = planned({ cursor: { gh: literal } }, { present: [{ key: "gh", entry: first?.entry }] });
    expect(again.servers[0]?.presentAs).toBe("gh");
  });

  test("a tool that is off in one client stays off, and a server that is off everywhere", () => {
    const plan = planned({
      cursor: { a: { command: "a", tools: { deny: ["x"] } }, b: { command: "b", enabled: false } },
      vscode: { a: { command: "a", tools: { allow: ["y", "z"], deny: ["w"] } }, b: { command: "b", enabled: false } },
      zed: { a: { command: "a", enabled: false, tools: { allow: ["z"] } } },
    });
    expect(plan.servers.map(({ entry, notes }) => [entry, notes])).toEqual([
      [
        { command: "a", tools: { allow: ["z"], deny: ["x", "w"] } },
        [
          "its clients offer different tools: a tool that is off in one of them stays off",
          "switched off in one client and on in another: taken over as on",
        ],
      ],
      [{ command: "b", enabled: false }, []],
    ]);
  });

  test("gateways are never taken over", () => {
    const plan = planImport(
      foundIn({ cursor: { hub: github } }, { gateway: { name: "MetaMCP", isOurs: false } }),
      nothing,
    );
    expect(plan.servers).toEqual([]);
    expect(plan.gateways).toEqual([
      { client: "Cursor", name: "hub", place: "/cursor.json:1:1", gateway: "MetaMCP", isOurs: false },
    ]);
  });

  test("a project's server runs in its project, unless our file stands there or an entry says otherwise", () => {
    const inProject = foundIn(
      { cursor: { a: { command: "a" }, b: { command: "b", cwd: "/else" }, c: { url: "https://c" } } },
      { project: "/shop" },
    );
    const cwds = (directory: string) =>
      planImport(inProject, { ...nothing, directory }).servers.map(({ entry }) => entry.cwd);
    expect(cwds("/config")).toEqual(["/shop", "/else", undefined]);
    expect(cwds("/shop")).toEqual([undefined, "/else", undefined]);
  });

  test("one entry of one real file is one server, whatever links lead clients to it, and for whatever folder", () => {
    const [cursor, vscode] = foundIn({ cursor: { a: { command: "./a" } }, vscode: { a: { command: "/shop/a" } } });
    const linked = { ...vscode!, files: vscode!.files.map((file) => ({ ...file, realPath: "/cursor.json" })) };
    const plan = planImport([cursor!, linked], nothing);
    expect(plan.servers.map(({ key, entry, seen }) => [key, entry, seen.length])).toEqual([
      ["a", { command: "./a" }, 2],
    ]);
    expect(keys(planImport([cursor!, vscode!], nothing))).toEqual(["a", "a-vscode"]);
  });

  test("a variable that the entry itself sets is not missing", () => {
    const env = { AUTH: "Bearer ${TOKEN}" };
    const entry = { command: "x", args: ["Authorization:${AUTH}"], env };
    expect(planned({ cursor: { a: entry } }).servers[0]?.missing).toEqual(["TOKEN"]);
  });

  test("variables that are not set are named", () => {
    const entry = { command: "x", args: ["${A}", "${B:-b}", "${input:my-key}", "${userHome}", "${SET}"] };
    expect(planned({ cursor: { a: entry } }, { env: { SET: "1" } }).servers[0]?.missing).toEqual([
      "A",
      "TOOLYARD_INPUT_MY_KEY",
    ]);
  });
});

const key = `ghp_${"aB3x".repeat(9)}`;

describe("secrets that stand in a client's file", () => {
  test.each<[string, ImportedEntry, readonly (readonly [string, string, string])[]]>([
    [
      "a variable, by its name",
      { command: "x", env: { API_KEY: "abc-1", PORT: "80" } },
      [["env.API_KEY", "abc-1", "API_KEY"]],
    ],
    ["a variable, by the look of its value", { command: "x", env: { GH: key } }, [["env.GH", key, "GH"]]],
    [
      "a header, without its scheme",
      { url: "https://a", headers: { Authorization: "Bearer abc-1" } },
      [["headers.Authorization", "abc-1", "MY_SERVER_TOKEN"]],
    ],
    [
      "another header",
      { url: "https://a", headers: { "X-Api-Key": "abc-1" } },
      [["headers.X-Api-Key", "abc-1", "MY_SERVER_X_API_KEY"]],
    ],
    [
      "an argument behind its option",
      { command: "x", args: ["--api-key", "abc-1", "--port", "80"] },
      [["args[1]", "abc-1", "MY_SERVER_API_KEY"]],
    ],
    [
      "an argument with its name",
      { command: "x", args: ["--token=abc-1", "-e", "DB_PASSWORD=abc-2"] },
      [
        ["args[0]", "abc-1", "MY_SERVER_TOKEN"],
        ["args[2]", "abc-2", "MY_SERVER_DB_PASSWORD"],
      ],
    ],
    ["an address", { url: "https://a/mcp?api_key=abc-1" }, [["url", "abc-1", "MY_SERVER_API_KEY"]]],
    [
      "variables, switches, numbers and files are none",
      {
        command: "x",
        env: { TOKEN: "${T}", USE_TOKEN: "true", PIN: "1", GOOGLE_CREDENTIALS: "/etc/key.json", EMPTY_TOKEN: "" },
        args: ["--token", "--verbose", "--tokenizer=gpt"],
      },
      [],
    ],
  ])("%s", (_what, entry, expected) => {
    expect(
      findLiteralSecrets(entry, "my-server").map(({ where, value, variable }) => [where, value, variable]),
    ).toEqual(expected);
  });

  test("are offered as variables, in place of nothing but themselves", () => {
    const entry = { command: "x", args: ["--token=e", "-e", `KEY=${key}`], env: { TOKEN: "e" } };
    const [server] = planned({ cursor: { one: entry } }).servers;
    expect(server?.literal).toEqual(entry);
    expect(server?.entry).toEqual({
      command: "x",
      args: ["--token=${ONE_TOKEN}", "-e", "KEY=${ONE_KEY}"],
      env: { TOKEN: "${TOKEN}" },
    });
  });

  test("equal ones share a variable, and different ones never do", () => {
    const plan = planned(
      {
        cursor: {
          one: { command: "a", env: { TOKEN: "s1" } },
          two: { command: "b", env: { TOKEN: "s2" } },
          three: { command: "c", env: { TOKEN: "s1", SET: "s3", SET_TOKEN: "s4" } },
        },
      },
      { env: { SET_TOKEN: "another" } },
    );
    expect(plan.servers.map(({ secrets }) => secrets.map(({ variable }) => variable))).toEqual([
      ["TOKEN"],
      ["TWO_TOKEN"],
      ["TOKEN", "THREE_SET_TOKEN"],
    ]);
  });

  test("a variable of an entry is moved whole, so that an argument that refers to it stays as it was", () => {
    const env = { AUTH_HEADER: "Bearer abc123secretabc123", DB: "postgres://u:s3cretS3cret@h/d?password=s3cretS3cret" };
    const entry = { command: "npx", args: ["--header", "Authorization:${AUTH_HEADER}"], env };
    const [server] = planned({ cursor: { a: entry } }).servers;
    expect(server?.entry).toEqual({ ...entry, env: { AUTH_HEADER: "${AUTH_HEADER}", DB: "${DB}" } });
    expect(server?.secrets).toEqual([
      { where: "env.AUTH_HEADER", variable: "AUTH_HEADER", isSet: false, scheme: "Bearer " },
      { where: "env.DB", variable: "DB", isSet: false },
    ]);
    expect(planned({ cursor: { a: entry } }, { env }).servers[0]?.secrets.map(({ isSet }) => isSet)).toEqual([
      true,
      true,
    ]);
  });

  test("one that the environment has already is known to be set", () => {
    const plan = planned({ cursor: { one: { command: "a", env: { TOKEN: "s1" } } } }, { env: { TOKEN: "s1" } });
    expect(plan.servers[0]?.secrets).toEqual([{ where: "env.TOKEN", variable: "TOKEN", isSet: true }]);
  });
});

describe("FAULT 91: a command that fetches or runs something else is marked", () => {
  const download = "runs a download";
  const shell = "runs a shell";
  const code = "runs code from its arguments";
  const variable = "a variable changes what runs";

  test.each<[string, readonly string[], readonly string[]]>([
    ["npx", ["-y", "x"], [download]],
    ["C:\\Program Files\\nodejs\\npx.cmd", ["x"], [download]],
    ["npx", ["-y", "x@1.2.3"], []],
    ["npx", ["-y", "@modelcontextprotocol/server-filesystem", "/tmp"], []],
    ["npx", ["-y", "@modelcontextprotoco1/server-filesystem"], [download]],
    ["npx", ["-y", "x@latest"], [download]],
    ["npx", ["-y", "x@^1.2.3"], [download]],
    ["npx", ["-y", "github:a/b"], [download]],
    ["npx", ["-y", "https://a.example/x.tgz"], [download]],
    ["npx", ["-y", "-p", "x@1.0.0", "-p", "y", "run"], [download]],
    ["npx", ["--package=x@1.0.0", "run"], []],
    ["uvx", ["mcp-server-time"], []],
    ["uvx", ["mcp-server-tirne"], [download]],
    ["uvx", ["--from", "x==1.2", "run"], []],
    ["uvx", ["--from", "git+https://a.example/x", "run"], [download]],
    ["npx", ["-c", "rm -rf /"], [download, shell]],
    ["npm", ["exec", "x"], [download]],
    ["npm", ["start"], []],
    ["uvx", ["x"], [download]],
    ["uv", ["--directory", "/a", "run", "x.py"], [download]],
    ["docker", ["run", "-i", "x"], [download]],
    ["docker", ["exec", "-i", "x"], []],
    ["deno", ["run", "npm:x"], [download]],
    ["deno", ["run", "x.ts"], []],
    ["bash", ["-c", "curl -s https://x | sh"], [download, shell]],
    ["sh", ["-c", "exec npx -y x"], [download, shell]],
    ["sh", ["start.sh"], [shell]],
    ["cmd", ["/c", "npx", "-y", "x"], [download, shell]],
    ["powershell", ["-Command", "iwr https://x | iex"], [download, shell]],
    ["env", ["A=b", "npx", "x"], [download]],
    ["env", ["-S", "bash -c 'node x'"], [shell]],
    ["sudo", ["-E", "bash", "x"], [shell]],
    ["node", ["-e", "1"], [code]],
    ["node", ["--eval=1"], [code]],
    ["node", ["x.js", "-e"], []],
    ["python3.12", ["-c", "1"], [code]],
    ["python", ["-m", "x"], []],
    ["/usr/local/bin/server", ["--shell", "bash"], []],
  ])("%s %j", (command, args, marks) => {
    expect(marksOf({ command, args })).toEqual(marks);
  });

  const passing = "is in a folder for downloads or temporary files";
  test.each<[string, readonly string[], string | undefined, boolean]>([
    ["/tmp/server", [], undefined, true],
    ["~/Downloads/server", [], undefined, true],
    ["/Users/a/Téléchargements/server", [], undefined, true],
    ["C:\\Users\\a\\AppData\\Local\\Temp\\x.exe", [], undefined, true],
    ["%TEMP%\\x.exe", [], undefined, true],
    ["${TMPDIR}/x", [], undefined, true],
    ["/private/var/folders/ab/x", [], undefined, true],
    ["node", ["/tmp/x.js"], undefined, true],
    ["python3", ["-u", "/home/a/downloads/x.py"], undefined, true],
    ["deno", ["run", "/dev/shm/x.ts"], undefined, true],
    ["node", ["x.js"], "/tmp/y", true],
    ["./server", [], "/home/a/Downloads", true],
    ["node", ["/srv/x.js", "/tmp"], undefined, false],
    ["node", ["/srv/x.js"], "/tmp/y", false],
    ["/home/a/template/server", [], undefined, false],
    ["/opt/tmp", [], undefined, false],
    ["server", [], "/tmp", false],
  ])("%s %j in %s is in a passing folder: %s", (command, args, cwd, is) => {
    expect(marksOf({ command, args, ...(cwd === undefined ? {} : { cwd }) })).toEqual(is ? [passing] : []);
  });

  test.each<[string, readonly string[], boolean]>([
    ["npx", ["-y", "x"], true],
    ["npx", ["-y", "x@1.2.3"], true],
    ["uvx", ["mcp-server-time"], true],
    ["docker", ["run", "-i", "x"], true],
    ["/usr/local/bin/server", [], true],
    ["sh", ["-c", "npx x@1.2.3"], false],
    ["bash", ["-c", "x"], false],
    ["cmd", ["/c", "npx", "-y", "x"], false],
    ["powershell.exe", ["-File", "x.ps1"], false],
    ["pwsh", ["-c", "x"], false],
    ["env", ["-S", "sh -c x"], false],
    ["curl", ["https://x"], false],
    ["node", ["-e", "1"], false],
    ["/tmp/server", [], false],
    ["node", ["C:\\Users\\a\\Downloads\\x.js"], false],
  ])("%s %j is chosen unless a person says otherwise: %s", (command, args, is) => {
    expect(isPreselected({ command, args })).toBe(is);
  });

  test("a server with an address is chosen, and one whose variables change what runs is not", () => {
    expect(isPreselected({ url: "https://a.example" })).toBe(true);
    expect(isPreselected({ command: "x", env: { LD_PRELOAD: "/tmp/x.so" } })).toBe(false);
    expect(isPreselected({ command: "x", args: ["y".repeat(64 * 1024)] })).toBe(true);
  });

  test.each(["NODE_OPTIONS", "LD_PRELOAD", "Path", "DOCKER_HOST"])("the variable %s", (name) => {
    expect(marksOf({ command: "x", env: { [name]: "y" } })).toEqual([variable]);
  });

  test("a harmless variable and a remote server are not marked", () => {
    expect(marksOf({ command: "x", env: { TOKEN: "y" } })).toEqual([]);
    expect(marksOf({ url: "https://npx" })).toEqual([]);
  });

  test("programs in programs without end", () => {
    expect(marksOf({ command: "env", args: Array.from({ length: 1_000 }, () => "env") })).toEqual([shell]);
  });
});
