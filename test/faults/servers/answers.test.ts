import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { execute } from "../../harness/rpc.ts";
import { until } from "../../harness/until.ts";
import {
  failureOf,
  faultyServer,
  flavours,
  slugOf,
  startFaulty,
  untilOnline,
  type FaultyGateway,
  type FaultyServer,
} from "./faulty-gateway.ts";

const alphabets = "Grüße 漢字 😀 ñ ";

describe("servers that answer badly", () => {
  let gateway: FaultyGateway;
  let servers: FaultyServer[];
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "toolyard-answers-"));
    servers = await Promise.all(
      flavours.map(async (flavour) => await faultyServer(flavour, "--record", join(directory, slugOf(flavour)))),
    );
    const endless = await Promise.all(
      flavours.map(async (flavour) => await faultyServer(flavour, "--behaviours", "huge-line,echo")),
    );
    servers.push(...endless);
    gateway = await startFaulty({
      servers: {
        ...Object.fromEntries(
          flavours.map((flavour, index) => [
            slugOf(flavour),
            { ...servers[index]?.entry, callTimeoutMs: 1_500, retry: false },
          ]),
        ),
        ...Object.fromEntries(
          flavours.map((flavour, index) => [`patient-${slugOf(flavour)}`, { ...servers[index]?.entry, retry: false }]),
        ),
        ...Object.fromEntries(
          flavours.map((flavour, index) => [`endless-${slugOf(flavour)}`, { ...endless[index]?.entry, retry: false }]),
        ),
        banner: (await faultyServer("stdio legacy", "--banner", "Welcome to the server!", "--tool-name", "plain"))
          .entry,
      },
      settings: { limits: { upstreamMessageBytes: 2 * 1024 * 1024 } },
      args: ["--log-level", "debug"],
    });
    await untilOnline(
      gateway,
      ...flavours.map(slugOf),
      ...flavours.flatMap((flavour) => [`endless-${slugOf(flavour)}`, `patient-${slugOf(flavour)}`]),
      "banner",
    );
  });
  afterAll(async () => {
    await gateway.endsClean();
    await gateway[Symbol.asyncDispose]();
    for (const server of servers) await server[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });

  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came back
  const call = async (flavour: string, tool: string, args: object = {}): Promise<any> =>
    await execute(gateway.url, `${slugOf(flavour)}:${tool}`, args);
  const oddities = (flavour: string, kind: string): string[] =>
    gateway.logged(`"server":"${slugOf(flavour)}","operation":"${kind}"`);

  test.each(flavours)(
    "FAULT 66: a call that is never answered ends at its limit, and the server is told (%s)",
    async (flavour) => {
      expect(failureOf(await call(flavour, "hang"))).toMatchObject({
        code: "UPSTREAM_TIMEOUT",
        message: expect.stringContaining(slugOf(flavour)),
      });
      await until(async () =>
        /notifications\/cancelled|"given up"/.test(await readFile(join(directory, slugOf(flavour)), "utf8")),
      );
      expect(await call(flavour, "echo", { after: 1 })).toMatchObject({ structuredContent: { after: 1 } });
      await gateway.stillServes();
    },
  );

  test.each(flavours)("FAULT 67: of two answers the first counts, the second is dropped (%s)", async (flavour) => {
    expect(await call(flavour, "twice")).toMatchObject({ content: [{ text: "first" }] });
    expect(await call(flavour, "echo", { after: 2 })).toMatchObject({ structuredContent: { after: 2 } });
    if (flavour.startsWith("stdio")) await until(() => oddities(flavour, "second-answer").length > 0);
    await gateway.stillServes();
  });

  test.each(flavours)(
    "FAULT 68: an answer to a wrong id is dropped and counted, the right one arrives (%s)",
    async (flavour) => {
      for (const tool of ["wrong-id", "string-id", "null-id"])
        expect(await call(flavour, tool), tool).toMatchObject({ content: [{ text: "to the right id" }] });
      await until(() => oddities(flavour, "unknown-id").length >= 2);
      expect(failureOf(await call(flavour, "wrong-id", { only: true })).code).toMatch(/UPSTREAM_(TIMEOUT|CLOSED)/);
      await gateway.stillServes();
    },
  );

  test.each(["http legacy", "http modern"])(
    "FAULT 68: an answer to another call's id does not reach that call (%s)",
    async (flavour) => {
      const victim = call(flavour, "slow", { ms: 800 });
      await until(async () => JSON.parse((await call(flavour, "in-flight")).content[0].text).inFlight > 1);
      expect(await call(flavour, "other-id")).toMatchObject({ content: [{ text: "to the right id" }] });
      expect(await victim).toMatchObject({ content: [{ text: '{"waitedMs":800}' }] });
      await gateway.stillServes();
    },
  );

  test.each(flavours)("FAULT 69: what is no message is skipped, counted and logged (%s)", async (flavour) => {
    expect(await call(flavour, "not-json")).toMatchObject({ content: [{ text: "after garbage" }] });
    expect(await call(flavour, "json-not-rpc")).toMatchObject({ content: [{ text: "after JSON" }] });
    expect(await call(flavour, "crlf")).toMatchObject({ content: [{ text: "crlf" }] });
    expect(await call(flavour, "batch")).toMatchObject({ content: [{ text: "in a batch" }] });
    if (flavour.startsWith("stdio"))
      expect(await call(flavour, "blank-lines")).toMatchObject({ content: [{ text: "between blank lines" }] });
    await until(() => oddities(flavour, "not-json").length >= 4);
    await gateway.stillServes();
  });

  test("FAULT 69: a banner before the first message does no harm", async () => {
    expect(await execute(gateway.url, "banner:plain")).toMatchObject({ structuredContent: { tool: "plain" } });
    expect(oddities("banner", "not-json").length).toBeGreaterThan(0);
  });

  test.each(flavours)(
    "FAULT 70: a line without an end is cut at the cap, and the server comes back (%s)",
    async (flavour) => {
      const answer = JSON.stringify(await execute(gateway.url, `endless-${slugOf(flavour)}:huge-line`));
      expect(answer).toMatch(/UPSTREAM_CLOSED|UPSTREAM_PROTOCOL|RESULT_TOO_LARGE/);
      expect(answer).toMatch(/2097152|2 MiB/);
      await until(async () =>
        JSON.stringify(await execute(gateway.url, `endless-${slugOf(flavour)}:echo`, { back: 1 })).includes(
          '{"back":1}',
        ),
      );
      await gateway.stillServes();
    },
  );

  test.each(flavours)("FAULT 71: text of many alphabets, byte by byte, arrives unharmed (%s)", async (flavour) => {
    expect((await call(flavour, "one-byte-writes")).content[0].text).toBe(alphabets.repeat(4));
    await gateway.stillServes();
  });

  test.each(flavours)(
    "FAULT 72: two messages in one chunk, and one in ten thousand, are whole (%s)",
    async (flavour) => {
      expect(await call(flavour, "two-in-one-chunk")).toMatchObject({ content: [{ text: "second in the chunk" }] });
      // Ten thousand writes take a busy machine longer than a call of the others may.
      const { text } = (await execute(gateway.url, `patient-${slugOf(flavour)}:many-chunks`)).content[0];
      expect(text).toBe(alphabets.repeat(text.length / alphabets.length));
      expect(Buffer.byteLength(text)).toBeGreaterThan(99_000);
      await gateway.stillServes();
    },
  );

  test.each(flavours)(
    "FAULT 84: a request that the modern era forbids is refused and logged; the call goes on (%s)",
    async (flavour) => {
      const text = (await call(flavour, "push", { method: "elicitation/create", params: { message: "hi" }, ms: 500 }))
        .content[0].text as string;
      if (flavour.endsWith("modern")) {
        expect(text).toMatch(/error|nothing came back/);
        await until(() => oddities(flavour, "request-refused").length > 0);
      } else {
        expect(text).toContain("error");
      }
      if (flavour !== "http modern")
        expect((await call(flavour, "push", { method: "ping" })).content[0].text).toContain('"result":{}');
      await gateway.stillServes();
    },
  );
});
