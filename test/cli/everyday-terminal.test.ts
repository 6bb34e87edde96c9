import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { get, run, untilOnline } from "../harness/rest.ts";
import { runOnTerminal, type TerminalCommand } from "../harness/terminal.ts";
import { until } from "../harness/until.ts";

let directory: string;
let gateway: RunningGateway;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "toolyard-asking-"));
  gateway = await startGateway({ directory, config: { mcpServers: { bad: badServer() } } });
  await untilOnline(gateway.url);
});
afterAll(async () => {
  await gateway.stop();
  await rm(directory, { recursive: true, force: true });
});

const call = (...args: string[]): TerminalCommand =>
  runOnTerminal({ args: ["call", ...args, "--config", gateway.configFile, "--data-dir", join(directory, "data")] });

const shows = async (terminal: TerminalCommand, text: string): Promise<void> =>
  void (await until(() => terminal.text().includes(text)));

test("a form is asked field by field, and the answer goes to the server", async () => {
  await using terminal = call("bad:elicit");
  await shows(terminal, "[bad]");
  await shows(terminal, "Answer? [Y/n]");
  terminal.type("\r");
  await shows(terminal, "name: ");
  terminal.type("Ada\r");
  expect(await terminal.ended).toBe(0);
  expect(terminal.text()).toContain("Ada");
  expect(terminal.text()).toContain("accept");
});

test("what is typed before it is asked for is not lost", async () => {
  await using terminal = call("bad:elicit");
  await shows(terminal, "Answer? [Y/n]");
  terminal.type("\rAda\r");
  expect(await terminal.ended).toBe(0);
  expect(terminal.text()).toContain("accept");
});

test("a question can be declined, and given up with Ctrl-D", async () => {
  for (const [typed, said] of [
    ["n\r", "decline"],
    ["\u0004", "cancel"],
  ] as const) {
    await using terminal = call("bad:elicit");
    await shows(terminal, "Answer? [Y/n]");
    terminal.type(typed);
    expect(await terminal.ended).toBe(0);
    expect(terminal.text()).toContain(said);
  }
});

test("an address is shown, to be opened by the person", async () => {
  await using terminal = call("bad:elicit-url", "url=https://example.com/consent");
  await shows(terminal, "Open this address: https://example.com/consent");
  terminal.type("\r");
  expect(await terminal.ended).toBe(0);
  expect(terminal.text()).toContain("accept");
});

test("progress is one line that goes away", async () => {
  await using terminal = call("bad:progress", "steps=5", "ms=200");
  await until(() => /[1-5] of 5/.test(terminal.text()));
  expect(await terminal.ended).toBe(0);
  expect(terminal.text()).not.toMatch(/\d of 5/);
});

test("what a server writes cannot move the cursor of a terminal", async () => {
  await using terminal = call("bad:text", 'text:="a\\u001b[2Jb\\nc"');
  expect(await terminal.ended).toBe(0);
  expect(terminal.text()).toContain("a [2Jb\nc\n");
});

test("Ctrl-C ends the call, also while it asks", async () => {
  for (const [tool, sign] of [
    ["bad:hang", ""],
    ["bad:elicit", "Answer? [Y/n]"],
  ] as const) {
    const seen = async (): Promise<number> => {
      const { json } = await get(`${gateway.url}/api/calls?tool=${tool}`);
      return (json.calls as { outcome: string; code: string | null }[]).filter(
        ({ outcome, code }) => outcome === "CALL_CANCELLED" || code === "CALL_CANCELLED",
      ).length;
    };
    const before = await seen();
    await using terminal = call(tool);
    await shows(terminal, sign);
    // The call that asks is one of them.
    await until(async () => (await run(gateway.url, "bad:in-flight")).text.includes('\\"inFlight\\":2'));
    expect(await terminal.interrupt()).not.toBe(0);
    await until(async () => (await seen()) > before);
  }
});
