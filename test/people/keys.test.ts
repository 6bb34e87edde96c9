import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { badServer } from "../harness/gateway.ts";
import { get, run } from "../harness/rest.ts";
import { until } from "../harness/until.ts";
import { startTeamWorld } from "./team-world.ts";

const key = (byte: number): string => Buffer.alloc(32, byte).toString("base64");
const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
const secret = "s3cret-under-a-key-of-ones-own";

test("the key of secrets is taken from a variable, a file and a command, and a gateway with another one opens none", async () => {
  // Changed between two starts, as an administrator does.
  const env: Record<string, string> = { TOOLYARD_KEY: key(1) };
  await using world = await startTeamWorld({ env });
  const { token } = (await world.ask("user", "add", "ann", "--admin", "--team", "red")).made;
  const file = join(world.directory, "template.json");
  await writeFile(
    file,
    JSON.stringify({ entry: { ...badServer("--behaviours=env"), env: { KEY: "${secret:MAIL}" } } }),
  );
  await world.ask("template", "add", "mail", "--file", file);
  await world.ask("install", "mail", "--team", "red");
  const put = await fetch(`${world.url}/api/teams/red/secrets/MAIL`, {
    method: "PUT",
    headers: { ...bearer(token), "content-type": "application/json" },
    body: JSON.stringify({ value: secret }),
  });
  expect([put.status, (await put.text()).includes(secret)]).toEqual([200, false]);
  const listed = await get(`${world.url}/api/teams/red/secrets`, bearer(token));
  expect([listed.json.secrets[0].name, listed.text.includes(secret)]).toEqual(["MAIL", false]);

  async function again(next: Record<string, string>, signal?: NodeJS.Signals): Promise<void> {
    await world.restart(signal, async () => {
      for (const name of Object.keys(env)) delete env[name];
      Object.assign(env, next);
      await Promise.resolve();
    });
  }
  const opens = async (): Promise<unknown> =>
    await until(async () => (await run(world.url, "mail:env", {}, bearer(token))).text.includes(secret));

  await opens();
  const mounted = join(world.directory, "mounted-key");
  await writeFile(mounted, `${key(1)}\n`);
  await again({ TOOLYARD_KEY: `file:${mounted}` });
  await opens();
  // As a KMS or a keychain is asked.
  await again({ TOOLYARD_KEY_COMMAND: `cat ${mounted}` });
  await opens();
  // Rotated to another key, which is given with the one before it; killed, and started with the new one alone.
  await again({ TOOLYARD_KEY: key(2), TOOLYARD_KEY_PREVIOUS: key(1) });
  await opens();
  expect((await world.ask("key", "rotate")).rotated).toBeDefined();
  await again({ TOOLYARD_KEY: key(2) }, "SIGKILL");
  await opens();
  await again({ TOOLYARD_KEY_COMMAND: `cat ${mounted}` });
  const refused = await until(async () => {
    const { status, text } = await run(world.url, "mail:env", {}, bearer(token));
    return status !== 503 || !text.includes("SERVER_STARTING") ? { status, text } : undefined;
  });
  expect([refused.status === 200, refused.text.includes(secret)]).toEqual([false, false]);
  const said = (await world.command("status")).stdout + refused.text + world.gateway.stderr();
  expect(said).toMatch(/another key/);
  await world.gateway.stop();
  const files = await readdir(join(world.directory, "data"), { recursive: true, withFileTypes: true });
  for (const one of files.filter((entry) => entry.isFile())) {
    const bytes = await readFile(join(one.parentPath, one.name));
    for (const text of [secret, key(1), key(2)]) expect([one.name, bytes.includes(text)]).toEqual([one.name, false]);
  }
});
