import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Duplex } from "node:stream";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startGateway } from "../harness/gateway.ts";
import { locksIn } from "../harness/places.ts";

let directory: string;
beforeEach(async () => void (directory = await mkdtemp(join(tmpdir(), "toolyard-owner-"))));
afterEach(async () => await rm(directory, { recursive: true, force: true }));

test.each(["{ nonsense", "[]", "17", "null", '{"command":"burn"}', "{}"])(
  "behind the owner's door, %s is answered as a command that there is not, and the next one is carried out",
  async (line) => {
    await using gateway = await startGateway({ config: { mcpServers: {} }, directory });
    const knocking = request(gateway.url, {
      method: "CONNECT",
      path: "control:1",
      headers: { authorization: `Bearer ${locksIn(join(directory, "data"))[0]?.secret ?? ""}` },
    });
    knocking.end();
    const [, socket] = (await once(knocking, "connect")) as [unknown, Duplex];
    const answers = createInterface({ input: socket })[Symbol.asyncIterator]();
    const ask = async (text: string): Promise<unknown> => {
      socket.write(`${text}\n`);
      return JSON.parse(String((await answers.next()).value));
    };
    expect(await ask(line)).toMatchObject({
      ok: false,
      message: expect.stringMatching(/^there is no command/) as string,
    });
    expect(await ask('{"command":"status"}')).toMatchObject({ ok: true, status: { pid: gateway.process.pid } });
    socket.destroy();
  },
);
