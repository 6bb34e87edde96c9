// Writes docs/safety-transcript.md from a real run: a server whose definitions change between two starts, and a server
// in a sandbox that tries what it may not. Each command is typed on a terminal, with the built gateway behind it.

import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { notesAfter, notesBefore } from "./changed-notes.mjs";
import { openTerminal } from "./clients/asked/terminal.mjs";
import { startListening } from "./conformance/listening.mjs";
import { needPackage } from "./debian-package.mjs";

const root = fileURLToPath(new URL("../", import.meta.url));
const main = join(root, "dist/cli/main.js");
const home = await mkdtemp(join(tmpdir(), "toolyard-safety-"));
const configFile = join(home, ".config/toolyard/toolyard.json");
const env = { HOME: home, PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
const lines = [];
const say = (text) => void lines.push(text);
const fenced = (language, text) => say(`\`\`\`${language}\n${tidy(text).trimEnd()}\n\`\`\``);
/** What is another in each run. */
const replaced = [
  [root.slice(0, -1), "~/toolyard"],
  [home, "~"],
];
let gateway;

function tidy(text) {
  const plain = replaced.reduce((given, [found, by]) => given.replaceAll(found, by), text);
  return plain
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d(:[\d.]+Z)?/g, "2026-11-28T12:00")
    .replaceAll(/\b\d+ ms\b/g, "9 ms");
}

async function configure(mcpServers) {
  await mkdir(dirname(configFile), { recursive: true });
  const text = `${JSON.stringify({ mcpServers }, undefined, 2)}\n`;
  await writeFile(configFile, text);
  fenced("json", text);
}

/** A gateway in the background, as `toolyard serve` in another terminal. */
async function serve() {
  await gateway?.stop();
  const given = { ...process.env };
  Object.assign(process.env, { HOME: home, XDG_CONFIG_HOME: "", XDG_DATA_HOME: "" });
  gateway = await startListening([main, "serve", "--port", "0"]);
  process.env = given;
}

/** Types a command, and what it asks for. */
async function type(words, answers = []) {
  const terminal = await openTerminal([process.execPath, main, ...words], { env, cwd: home });
  try {
    for (const [question, answer] of answers) {
      await terminal.until((screen) => screen.includes(question), question);
      await terminal.press(answer, "Enter");
    }
    const shown = words.map((word) => (/[^\w:./=-]/.test(word) ? `'${word}'` : word)).join(" ");
    fenced("", `$ toolyard ${shown}\n${await terminal.untilEnd()}`);
  } finally {
    await terminal.close();
  }
}

/** A server's list is read in the background. */
async function definitionsAreHeld() {
  for (;;) {
    const { servers } = await (await fetch(`${gateway.url}/api/definitions`)).json();
    if (servers.some(({ definitions }) => definitions.some(({ state }) => state === "held"))) return;
    await delay(100);
  }
}

async function changedDefinitions() {
  const list = join(home, "notes-package.json");
  const write = async (tools) => await writeFile(list, JSON.stringify({ tools }));
  await write(notesBefore);
  say(
    "## A server that changes its definitions\n\nThe server lists what is in its package. At its first start these are three tools.",
  );
  await configure({
    notes: { command: "node", args: [join(root, "test/safety/defined-server.mjs"), list, join(home, "notes.log")] },
  });
  await serve();
  await type(["tools"]);
  await type(["call", "notes:read_note", "id=1"]);
  await write(notesAfter);
  await serve();
  say(
    "The gateway is stopped, the server's package is updated, and the gateway is started again. One tool has a new required parameter, one a new sentence, one a better description.",
  );
  await type(["call", "notes:list_notes"]);
  say("The call has woken the server, whose list was compared with what it was before the call got through.");
  await definitionsAreHeld();
  await type(["tools"]);
  await type(["call", "notes:find_notes", "query=tea"]);
  await type(["definitions"]);
  await type(["definitions", "diff", "notes"]);
  say("The new parameter is what it should be. The sentence is not.");
  await type(["definitions", "approve", "notes:read_note"], [["Type yes", "yes"]]);
  await type(["definitions", "block", "notes:find_notes"]);
  await type(["call", "notes:read_note", "id=1", "notebook=tea"]);
  await type(["call", "notes:find_notes", "query=tea"]);
}

async function sandboxed() {
  const api = createServer((_request, response) => response.end("sunny"));
  await new Promise((resolve) => api.listen(0, "127.0.0.1", resolve));
  const { port } = api.address();
  replaced.push([String(port), "8080"]);
  try {
    await mkdir(join(home, ".ssh"), { recursive: true });
    await writeFile(join(home, ".ssh/id_rsa"), "a private key\n");
    const entry = { command: "node", args: [join(root, "test/safety/inside-server.mjs")] };
    say(
      "## A server in a sandbox\n\nThe server does what it is told: its tool evaluates JavaScript. It is there twice, as any program and in a sandbox from which it may reach one address.",
    );
    await configure({ free: entry, weather: { ...entry, sandbox: { network: [`localhost:${port}`] } } });
    await serve();
    replaced.push([new URL(gateway.url).port, "3001"]);
    const key = `code=return fs.readFileSync("${home}/.ssh/id_rsa", "utf8")`;
    say("Your key, read without a sandbox and in one:");
    await type(["call", "free:run", key]);
    await type(["call", "weather:run", key]);
    say("The address that it was given, one that it was not given, and the gateway itself:");
    await type(["call", "weather:run", `code=return (await fetch("http://localhost:${port}/")).text()`]);
    await type(["call", "weather:run", 'code=return dns.lookup("collect.example.net")']);
    const connect = `new Promise((done, fail) => net.connect(${new URL(gateway.url).port}, "127.0.0.1").on("connect", done).on("error", fail))`;
    await type(["call", "weather:run", `code=return ${connect}`]);
    say("What it was kept from is on its page in the dashboard, and here:");
    await type(["show", "weather"]);
  } finally {
    api.close();
  }
}

const opening = `# Changed definitions and a sandbox, in a terminal

<!-- Made by scripts/safety-transcript.mjs. Do not edit. -->

Made by \`node scripts/safety-transcript.mjs\` from one run of the built gateway. Everything below a \`$\` was typed and printed on a
terminal; folders, ports and times are replaced. [Safety of calls](safety.md) and [servers in a sandbox](sandbox.md) say what it shows.
How a person is asked about a call in real clients is [another page](clients-transcript.md).`;

needPackage("tmux", ["tmux", "-V"]);
needPackage("bubblewrap", ["bwrap", "--version"]);
execFileSync(process.execPath, [join(root, "scripts/build.mjs")], { stdio: "inherit" });
try {
  say(opening);
  await changedDefinitions();
  await sandboxed();
  await writeFile(join(root, "docs/safety-transcript.md"), `${lines.join("\n\n")}\n`);
} finally {
  await gateway?.stop();
  await rm(home, { recursive: true, force: true });
}
