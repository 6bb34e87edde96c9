// Whether a client gets along with a gateway where people log in: it is told the address by `toolyard connect`, and
// logs in with its own command, in a browser whose person agrees. No token is written anywhere by hand.

import { spawn } from "node:child_process";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { projectDir } from "../conformance/cached-package.mjs";
import { findNewerNode } from "../node24.mjs";
import { prepareClient } from "./client-rows.mjs";
import { connectClient } from "./connect-client.mjs";
import { runClient, stopDaemons } from "./installed-client.mjs";
import { startScriptedModel } from "./scripted-model.mjs";
import { findAndCall } from "./steps.mjs";
import { startTeamGateway } from "./team-gateway.mjs";

/** Processes that renew at the same time; each is a whole client, of a few hundred megabytes. */
const processes = 3;
const loginLimit = { attempts: 600, pauseMs: 100 };
/** A call that a person has a client make, in the order of the table. */
const steps = ["loggedIn", "called", "renewed", "restarted", "shutOut"];

/**
 * @typedef {object} TeamTrial
 * @property {"document" | "registration"} [known] as what the gateway knows the client
 * @property {string[]} done which of {@link steps} went well
 * @property {string} [said] what it says once it is shut out
 * @property {string} [failure] why the next step did not go well
 */

/**
 * @param {{ client: import("./client-rows.mjs").Client, command: string, directory: string,
 *   onOutput: (chunk: Buffer) => void }} run
 * @returns {Promise<TeamTrial>}
 */
export async function tryInTeam({ client, command, directory, onOutput }) {
  const [home, trial] = [join(directory, "home"), { done: [] }];
  await mkdir(home, { recursive: true });
  const args = [join(projectDir, "test/servers/bad-server.mjs")];
  const servers = { bad: { command: process.execPath, args, idleTimeoutMs: 3_600_000 } };
  const gateway = await startTeamGateway({ directory: join(directory, "gateway"), servers });
  const model = await startScriptedModel(findAndCall("canary"));
  try {
    const { args: words, env } = await prepareClient(client, { model: model.url, home });
    const calling = [...words, ...(client.allow?.args ?? [])];
    const run = (given) => runClient(command, { args: given, env, cwd: home, onOutput });
    /** So many clients at once, each of which has its model call the tool. Resolves to what they printed. */
    const use = async (count, attempts = 3) => {
      model.forget();
      const printed = await Promise.all(Array.from({ length: count }, () => run(calling)));
      const good = model.seen().executed.filter((text) => /"tool\\*":\s*\\*"canary/.test(text));
      if (good.length === count) return;
      // On a busy machine some of them ask their model before they are connected.
      if (attempts > 1) await use(count, attempts - 1);
      else throw new Error(`${good.length} of ${count} called the tool: ${printed.join("\n")}`);
    };
    const { token } = await connectClient(client, { url: gateway.url, configFile: gateway.configFile, env });
    if (token) throw new Error("a token was written into its file");
    trial.known = await logIn({ client, command, home, env, gateway, onOutput });
    trial.done.push("loggedIn");
    await use(1);
    trial.done.push("called");
    await ageTokens(join(home, client.team.kept));
    await use(processes);
    trial.done.push("renewed");
    await gateway.restart();
    await use(1);
    trial.done.push("restarted");
    await gateway.disconnectNewest();
    const failed = await use(1, 1).then(
      () => undefined,
      (error) => error,
    );
    if (failed === undefined) throw new Error("it still called the tool");
    trial.said = findSaid(`${failed.message}\n${await run(client.team.list)}`, client.team.says);
    if (trial.said === undefined) throw new Error(`it does not say that it needs a login: ${failed.message}`);
    trial.done.push("shutOut");
  } catch (error) {
    trial.failure = `${steps[trial.done.length]}: ${error.message.slice(-600)}`;
  } finally {
    model.close();
    await gateway.stop();
    await stopDaemons(home);
  }
  return trial;
}

/** Its own command, whose browser is a script that writes down where it was sent; a person then goes there. */
async function logIn({ client, command, home, env, gateway, onOutput }) {
  const [seen, browser] = [join(home, "opened"), join(home, "browser")];
  await writeFile(browser, `#!/bin/sh\nprintf '%s\\n' "$1" >> '${seen}'\n`);
  await chmod(browser, 0o755);
  const words = [command, ...client.team.login];
  // Claude Code does that only where somebody could paste an address.
  const [program, args] = client.team.needsTerminal
    ? ["script", ["-qec", words.join(" "), "/dev/null"]]
    : [command, client.team.login];
  const path = `${dirname(await findNewerNode())}:${process.env.PATH}`;
  const options = { env: { ...env, PATH: path, BROWSER: browser, TERM: "dumb" }, cwd: home, detached: true };
  const child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  let printed = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      printed += chunk;
      onOutput(chunk);
    });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  try {
    const address = await firstAddress(seen, () => printed);
    const end = await gateway.person.allow(address);
    if (end.status !== 200) throw new Error(`its own page answered with ${end.status}: ${end.text.slice(0, 300)}`);
    const code = await ended;
    if (code !== 0) throw new Error(`its login ended with ${code}: ${printed.slice(-600)}`);
    return URL.canParse(new URL(address).searchParams.get("client_id")) ? "document" : "registration";
  } finally {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended by itself.
    }
  }
}

/** Where the browser was sent; some print the address and start a browser of their own choice. */
async function firstAddress(file, printed) {
  for (let attempt = 0; attempt < loginLimit.attempts; attempt += 1) {
    const opened = await readFile(file, "utf8").catch(() => "");
    // oxlint-disable-next-line no-control-regex -- colours
    const [address] = /https?:[^\s\u0007\u001b]+\/oauth\/authorize[^\s\u0007\u001b]+/.exec(opened || printed()) ?? [];
    if (address !== undefined) return address;
    await delay(loginLimit.pauseMs);
  }
  throw new Error(`it asked nobody to log in; it printed: ${printed().slice(-600)}`);
}

/** Makes the access token that the client has kept look as it does after an hour. */
async function ageTokens(file) {
  const kept = JSON.parse(await readFile(file, "utf8"), (key, value) => {
    if (/^access_?token$/i.test(key)) return "too-old";
    return /^expires_?at$/i.test(key) ? 1_000 : value;
  });
  await writeFile(file, JSON.stringify(kept));
}

function findSaid(printed, says) {
  // oxlint-disable-next-line no-control-regex -- colours
  const plain = printed.replaceAll(/\u001b\[[\d;?]*[a-zA-Z]/g, "");
  return says.exec(plain)?.[0].replaceAll(/\s+/g, " ").trim();
}
