import { describe, expect, test } from "vitest";
import { createResponses } from "../../../test/harness/open-response.ts";
import { until } from "../../../test/harness/until.ts";
import { jsonAnswer, writeAnswer } from "./answer.ts";

const open = createResponses();
const answer = { headers: { ETag: '"abc"', Vary: "Origin" }, body: "ü!" };

async function answered(
  headers: Record<string, string>,
  given: typeof answer | ReturnType<typeof jsonAnswer> = answer,
) {
  const { request, response, client, received } = await open(headers);
  writeAnswer(request, response, { "X-All": "1", Vary: "everything" }, given);
  const reading = await client();
  reading.resume();
  await until(() => reading.closed);
  return { status: reading.statusCode, headers: reading.headers, text: received() };
}

describe("a client that has a copy", () => {
  test.each(['"abc"', 'W/"abc"', '"x", "abc"', '"x",W/"abc" , "y"', "*", " * "])(
    "gets no body for If-None-Match: %s",
    async (tag) => {
      const { status, headers, text } = await answered({ "If-None-Match": tag });
      expect([status, headers.etag, headers["x-all"], text]).toEqual([304, '"abc"', "1", ""]);
    },
  );

  test.each(['"ab"', "abc", '"abc', 'w/"abc"', '"*"', ""])("of something else gets it for %j", async (tag) => {
    expect((await answered({ "If-None-Match": tag })).status).toBe(200);
  });
});

test("an answer has its length in bytes, and its own headers before those of all", async () => {
  const { headers, text } = await answered({});
  expect(headers).toMatchObject({ "content-length": "3", vary: "Origin", "x-all": "1" });
  expect(headers["content-type"]).toBe("application/json; charset=utf-8");
  expect(Buffer.from(text, "latin1").toString("utf8")).toBe("ü!");
});

test("an answer without an ETag is sent even to whoever has any copy", async () => {
  const { status, text } = await answered({ "If-None-Match": "*" }, jsonAnswer({ a: [1] }));
  expect([status, text]).toEqual([200, '{"a":[1]}']);
});
