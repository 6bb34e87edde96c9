import { once } from "node:events";
import { expect, test } from "vitest";
import { createResponses } from "../../../../test/harness/open-response.ts";
import { abortedWith } from "./record-export.ts";

const open = createResponses();

test("a client that leaves aborts the signal, also where it left before anyone asked for one", async () => {
  const { response, client } = await open({});
  const early = abortedWith(response);
  expect(early.aborted).toBe(false);
  response.flushHeaders();
  const closed = once(response, "close");
  (await client()).destroy();
  await closed;
  expect(early.reason).toMatchObject({ code: "CALL_CANCELLED" });
  expect(abortedWith(response).reason).toMatchObject({ code: "CALL_CANCELLED" });
});

test("an answer that was written to its end aborts nothing", async () => {
  const { response, client } = await open({});
  const signal = abortedWith(response);
  const closed = once(response, "close");
  response.end("done");
  (await client()).resume();
  await closed;
  expect(signal.aborted).toBe(false);
  expect(abortedWith(response).aborted).toBe(false);
});
