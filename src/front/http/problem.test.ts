import { describe, expect, test } from "vitest";
import { createResponses } from "../../../test/harness/open-response.ts";
import { until } from "../../../test/harness/until.ts";
import { failures } from "../../kernel/failures/failures.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { problemHeaders, problemTitle, refuseWithProblem, toProblem } from "./problem.ts";

const open = createResponses();

test("a failure is a problem document with its code, its hint and its facts", () => {
  const failure = new GatewayError("TOOL_AMBIGUOUS", "two tools", { data: { paths: ["a:x", "b:x"] }, hint: "Choose." });
  expect(toProblem(failure)).toEqual({
    type: "urn:toolyard:error:TOOL_AMBIGUOUS",
    title: "Conflict",
    status: 409,
    detail: "two tools",
    code: "TOOL_AMBIGUOUS",
    hint: "Choose.",
    paths: ["a:x", "b:x"],
  });
});

test("every status that a failure can have has a title of its own", () => {
  const statuses = [...new Set(Object.values(failures).map(({ http }) => http))];
  const titles = statuses.map(problemTitle);
  expect(titles).not.toContain("Error");
  expect(new Set(titles).size).toBe(statuses.length);
  expect(problemTitle(418)).toBe("Error");
});

describe("the headers of a refusal", () => {
  test("say when to come back, where that is known", () => {
    const failure = (data: Record<string, unknown>) => problemHeaders(new GatewayError("RATE_LIMITED", "no", { data }));
    expect(failure({ retry_after_s: 0 })).toMatchObject({ "Retry-After": "0", "Cache-Control": "no-store" });
    expect(failure({ retry_after_s: "soon" })).not.toHaveProperty("Retry-After");
  });

  test.each(["BODY_TOO_LARGE", "BODY_TIMEOUT"] as const)("end a connection whose body is not read: %s", (code) => {
    expect(problemHeaders(new GatewayError(code, "no"))).toHaveProperty("Connection", "close");
    expect(problemHeaders(new GatewayError("PARSE_ERROR", "no"))).not.toHaveProperty("Connection");
  });
});

test("a refusal arrives as pure ASCII, with the length that it has", async () => {
  const { response, client, received } = await open();
  refuseWithProblem(response, new GatewayError("FORBIDDEN", "für 名前 🎉"), { "X-Own": "1" });
  const reading = await client();
  expect([reading.statusCode, reading.headers["content-type"]]).toEqual([403, "application/problem+json"]);
  expect(reading.headers["x-own"]).toBe("1");
  reading.resume();
  await until(() => received().length === Number(reading.headers["content-length"]));
  expect(received()).toMatch(/^[ -~]+$/);
  expect(JSON.parse(received())).toMatchObject({ code: "FORBIDDEN", detail: "für 名前 🎉" });
});

test("what has been answered already is not refused as well", async () => {
  const { response, client } = await open();
  response.writeHead(204).end();
  refuseWithProblem(response, new GatewayError("INTERNAL", "late"));
  expect((await client()).statusCode).toBe(204);
});
