// A client whose model wants something deleted, and a person who says yes, no, or nothing: on the client's terminal,
// where it can ask, otherwise in the gateway's inbox. The server writes down what ran.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { projectDir } from "../../conformance/cached-package.mjs";
import { startListening } from "../../conformance/listening.mjs";
import { prepareClient } from "../client-rows.mjs";
import { connectClient } from "../connect-client.mjs";
import { runClient, stopDaemons } from "../installed-client.mjs";
import { startRecordingProxy } from "../recording-proxy.mjs";
import { startScriptedModel } from "../scripted-model.mjs";
import { callTool, findAndCall } from "../steps.mjs";
import { shorten } from "../transcript.mjs";
import { askedRows } from "./asked-rows.mjs";
import { openTerminal } from "./terminal.mjs";

const entry = join(projectDir, "dist/cli/main.js");
/** What its model wants deleted. */
const given = { id: 7 };
/** Longer than an answer that counts as no person's. */
const readingMs = 1_000;
/** Longer than a call is held for the inbox. */
const silenceMs = 25_000;
/** On a busy machine a client asks its model before it is connected. */
const attempts = 2;

/**
 * @typedef {"yes" | "no" | "nothing"} Answer
 *
 * @typedef {object} Answered
 * @property {Answer} answer
 * @property {string[]} shown what the person saw, and typed, in turn
 * @property {string | null} read what the model read in the end
 * @property {string | null} readFirst what it read before the person answered in the inbox
 * @property {number} ran how often the server ran the tool
 * @property {string} state of the question, in the gateway's inbox
 * @property {string | null} via the way on which it was decided
 *
 * @typedef {object} Asking
 * @property {string} version
 * @property {string} tried the day
 * @property {"terminal" | "inbox"} way
 * @property {Answered[]} answers
 * @property {Answered} [headless] with a yes in the inbox, where it can ask, but has no person
 * @property {{ lookup: string, other: string, ran: string[] }} [lookup] what came back, and which tools ran
 * @property {string[]} problems
 */

/**
 * @param {{ client: import("../client-rows.mjs").Client, directory: string, onOutput: (chunk: Buffer) => void,
 *   install: (client: import("../client-rows.mjs").Client) => Promise<{ version: string, command: string }> }} run
 * @returns {Promise<Asking | undefined>} undefined for a client that has no row
 */
export async function tryAsking({ client, directory, install, onOutput }) {
  const row = askedRows[client.name];
  if (row === undefined) return undefined;
  const { version, command } = await install(client);
  const asking = {
    ...{ version, tried: new Date().toISOString().slice(0, 10) },
    ...{ way: row.terminal === undefined ? "inbox" : "terminal", answers: [], problems: [] },
  };
  const attempt = async (what, run) => {
    for (let left = attempts; left > 0; left -= 1)
      try {
        return await run(join(directory, `asked-${client.command}-${what}-${left}`));
      } catch (error) {
        if (left === 1) asking.problems.push(`asked, ${what}: ${error.message.slice(0, 2_000)}`);
      }
    return undefined;
  };
  const answerOn = row.terminal === undefined ? answerInInbox : answerOnTerminal;
  for (const answer of /** @type {Answer[]} */ (["yes", "no", "nothing"])) {
    const answered = await attempt(answer, (place) => answerOn({ client, command, row, place, answer, onOutput }));
    if (answered === undefined) continue;
    asking.answers.push(answered);
    asking.problems.push(...findWrong(answered));
  }
  if (row.terminal !== undefined) {
    // Without a terminal it answers by itself, or says that there is no one: then the inbox decides.
    const alone = { client, command, row, answer: "yes", onOutput };
    const headless = await attempt("headless", (place) => answerInInbox({ ...alone, place }));
    if (headless !== undefined) asking.headless = headless;
    asking.problems.push(...(headless === undefined ? [] : findWrong(headless)));
  }
  if (row.lookup !== undefined) {
    const lookup = await attempt("lookup", (place) => lookUp({ client, command, row, place, onOutput }));
    if (lookup !== undefined) asking.lookup = lookup;
    if (lookup?.ran.join() !== "read_notes") asking.problems.push(`lookup: ${JSON.stringify(lookup)}`);
  }
  return asking;
}

/** What has to be true whatever the client, from the server's own journal and the gateway's inbox. */
function findWrong({ answer, ran, state, read }) {
  const expected = {
    yes: { ran: 1, state: "used", says: "ran delete_notes" },
    no: { ran: 0, state: "denied", says: "APPROVAL_DENIED" },
    nothing: { ran: 0, state: "waiting", says: "" },
  }[answer];
  return [
    ...(ran === expected.ran ? [] : [`asked, ${answer}: the tool ran ${ran} times`]),
    ...(state === expected.state ? [] : [`asked, ${answer}: the question is ${state}`]),
    ...((read ?? "").includes(expected.says) ? [] : [`asked, ${answer}: its model read ${read}`]),
  ];
}

/** A gateway with its default settings and a server that writes down what ran, and the client connected to it. */
async function openPlace({ client, place, steps }) {
  const [home, log, configFile] = ["home", "ran", "toolyard.json"].map((name) => join(place, name));
  await mkdir(home, { recursive: true });
  await writeFile(log, "");
  const args = [join(projectDir, "test/safety/notes-server.mjs"), log, "add_note"];
  await writeFile(configFile, JSON.stringify({ mcpServers: { notes: { command: process.execPath, args } } }));
  const places = ["--config", configFile, "--data-dir", join(place, "data")];
  const gateway = await startListening([entry, "serve", ...places, "--port", "0"]);
  const front = await startRecordingProxy(gateway.url);
  const model = await startScriptedModel(steps);
  const close = async () => {
    model.close();
    front.close();
    await gateway.stop();
    await stopDaemons(home);
  };
  try {
    const { args: usual, env } = await prepareClient(client, { model: model.url, home });
    await connectClient(client, { url: front.url, configFile, env });
    front.forget();
    const ran = async () =>
      (await readFile(log, "utf8")).split("\n").flatMap((line) => (line ? [JSON.parse(line)[0]] : []));
    const questions = async () => (await (await fetch(`${gateway.url}/api/approvals`)).json()).approvals;
    return { home, env, usual, places, front, model, ran, questions, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** What the server and the gateway know in the end. */
async function outcome({ ran, questions }) {
  const asked = await questions();
  if (asked.length !== 1) throw new Error(`${asked.length} questions were asked`);
  const [{ state, decidedVia }] = asked;
  return { ran: (await ran()).filter((tool) => tool === "delete_notes").length, state, via: decidedVia ?? null };
}

/** The client shows the question on its terminal, and keys are typed. */
async function answerOnTerminal({ client, command, row, place, answer }) {
  const at = await openPlace({ client, place, steps: findAndCall("delete notes", given) });
  const { args, settle, first, ready, keys } = row.terminal;
  await settle?.(at.home);
  const terminal = await openTerminal([command, ...args], { env: at.env, cwd: at.home });
  try {
    if (first !== undefined) {
      await terminal.until((screen) => screen.includes(first.says), "its first question");
      await terminal.press(...first.keys);
    }
    await terminal.until((screen) => ready.test(screen), "its prompt");
    await terminal.until(() => at.front.seen().methods.has("tools/list"), "its look at our tools");
    await delay(readingMs);
    await terminal.press("Delete note 7.");
    await delay(readingMs);
    await terminal.press("Enter");
    const form = await terminal.until((screen) => screen.includes("Allow notes"), "the question");
    if ((await at.ran()).length > 0) throw new Error("the tool ran before anybody was asked");
    await delay(readingMs);
    const typed = answer === "nothing" ? [] : keys[answer];
    for (const key of typed) {
      await terminal.press(key);
      await delay(readingMs);
    }
    if (answer === "nothing") await delay(silenceMs);
    else await terminal.until(() => at.model.seen().results.has("execute"), "what its model reads");
    const read = at.model.seen().results.get("execute");
    const still = answer === "nothing" ? [onlyQuestion(await terminal.screen())] : [];
    await terminal.close();
    const shown = [onlyQuestion(form), typed.join(" ") || "nothing", ...still];
    return { answer, shown, readFirst: null, read: read === undefined ? null : shorten(read), ...(await outcome(at)) };
  } finally {
    await terminal.close();
    await at.close();
  }
}

/** Of a screen, the line before the question and all that follows it, without rules. */
function onlyQuestion(screen) {
  const lines = screen.split("\n").filter((line) => !/^[\s─]*$/.test(line));
  const at = lines.findIndex((line) => line.includes("Allow notes"));
  return lines.slice(Math.max(0, at - 1)).join("\n");
}

/** Its model reads where a person decides, and that it is to make the same call again; a person goes there. */
async function answerInInbox({ client, command, row, place, answer, onOutput }) {
  const at = await openPlace({ client, place, steps: findAndCall("delete notes", given) });
  try {
    const args = [...at.usual, ...(row.headless ?? client.allow?.args ?? [])];
    const run = async () => await runClient(command, { args, env: at.env, cwd: at.home, onOutput });
    const printed = await run();
    const readFirst = at.model.seen().results.get("execute");
    if (readFirst === undefined) throw new Error(`its model made no call: ${printed}`);
    const [, code] = /toolyard approvals allow (\w+)/.exec(readFirst) ?? [];
    if (code === undefined) throw new Error(`its model was not told where a person decides: ${readFirst}`);
    const shown = answer === "nothing" ? [] : [await decideInInbox({ at, answer, code })];
    at.model.forget();
    await run();
    const read = at.model.seen().results.get("execute") ?? null;
    return { answer, shown, readFirst: shorten(readFirst), read: read && shorten(read), ...(await outcome(at)) };
  } finally {
    await at.close();
  }
}

/** The command that the model was told of, on a terminal. Resolves to what the person saw and typed. */
async function decideInInbox({ at, answer, code }) {
  const words = ["approvals", answer === "yes" ? "allow" : "deny", code];
  const terminal = await openTerminal([process.execPath, entry, ...words, ...at.places], {
    env: { HOME: at.home },
    cwd: at.home,
  });
  try {
    if (answer === "yes") {
      await terminal.until((screen) => screen.includes("Type yes to allow it"), "the question of the command");
      await terminal.press("yes", "Enter");
    }
    return `$ toolyard ${words.join(" ")}\n${await terminal.untilEnd()}`;
  } finally {
    await terminal.close();
  }
}

/** Where all else is refused or asked about, a lookup runs. */
async function lookUp({ client, command, row, place, onOutput }) {
  const [find] = findAndCall("read notes");
  const reading = { tool_path: "notes:read_notes", arguments: {} };
  const steps = [
    find,
    { step: "lookup", tool: "execute_read_only_mcp_tool", input: () => reading },
    callTool("other", "notes:add_note", {}),
  ];
  const at = await openPlace({ client, place, steps });
  try {
    const printed = await runClient(command, { args: row.lookup, env: at.env, cwd: at.home, onOutput });
    const { results } = at.model.seen();
    if (!results.has("lookup")) throw new Error(`its model looked nothing up: ${printed}`);
    const [lookup, other] = ["lookup", "other"].map((step) => shorten(results.get(step) ?? "nothing"));
    return { lookup, other, ran: await at.ran() };
  } finally {
    await at.close();
  }
}
