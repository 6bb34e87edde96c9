import { afterAll, describe, expect, test } from "vitest";
import { sampleInstance } from "../../../../test/sample-catalog.ts";
import { systemClock } from "../../../kernel/runtime/clock.ts";
import { noArguments, toCallArguments } from "../../../kernel/call/call-arguments.ts";
import type { ToolEntry } from "../../../catalog/model/snapshot.ts";
import { checkArguments, makeReady } from "./arguments.ts";
import { createValidators } from "../../validation/validators.ts";
import { until } from "../../../../test/harness/until.ts";
import { patientLimits } from "../../../../test/harness/patient-limits.ts";

const validators = createValidators({ clock: systemClock, limits: patientLimits });
afterAll(async () => await validators[Symbol.asyncDispose]());

const schema = {
  type: "object",
  properties: { owner: { type: "string" }, count: { type: "integer", minimum: 1 } },
  required: ["owner"],
  additionalProperties: false,
};
const tool = sampleInstance("s", [{ name: "t", inputSchema: schema }]).tools[0] as ToolEntry;
const check = async (text: string | undefined) =>
  await checkArguments(
    validators,
    tool,
    text === undefined ? noArguments : toCallArguments(Buffer.from(text)),
    AbortSignal.timeout(30_000),
  );

test("arguments that fit go on as the bytes that they are", async () => {
  const text = '{ "owner":"\\u0041", "count": 2 }';
  expect((await check(text)).bytes?.toString()).toBe(text);
});

test.each([
  ["{}", "owner"],
  ['{"owner":7}', "owner"],
  ['{"owner":"a","count":0}', "count"],
  ['{"owner":"a","count":"1"}', "count"],
  ['{"owner":"a","x":1}', "x"],
])("%s is refused before the server sees it, and the field is named", async (text, field) => {
  await expect(check(text)).rejects.toMatchObject({
    code: "ARGUMENTS_INVALID",
    message: expect.stringContaining(field),
    data: { tool_path: "s:t" },
  });
});

test("what is no object is refused; none at all is an empty one", async () => {
  for (const text of ["[]", "1", '"x"', "null"])
    await expect(check(text), text).rejects.toMatchObject({ code: "ARGUMENTS_INVALID" });
  await expect(check(undefined)).rejects.toMatchObject({
    code: "ARGUMENTS_INVALID",
    message: expect.stringContaining("owner"),
  });
});

test("FAULT 61: a schema that cannot be compiled means no check", async () => {
  const hostile = sampleInstance("s", [
    { name: "u", inputSchema: { type: "object", properties: { a: { $ref: "https://example.invalid/x.json" } } } },
  ]).tools[0] as ToolEntry;
  const args = toCallArguments(Buffer.from('{"a":1}'));
  const { signal } = new AbortController();
  expect(await checkArguments(validators, hostile, args, signal)).toMatchObject({ value: { a: 1 } });
  expect(await validators.prepare(hostile.hash, hostile.definition.inputSchema, signal)).toBe("unvalidated");
  expect(checkArguments(validators, hostile, args, signal)).toMatchObject({ value: { a: 1 } });
});

describe("a first call of a tool whose schema needs the compiler", () => {
  const { signal } = new AbortController();
  const labelled = (name: string): ToolEntry => {
    const labels = { type: "array", items: { type: "string" }, contains: { minLength: 1 } };
    const inputSchema = { type: "object", properties: { labels }, required: ["labels"] };
    return sampleInstance("s", [{ name, inputSchema }]).tools[0] as ToolEntry;
  };
  const args = (text: string) => toCallArguments(Buffer.from(text));

  test("goes on at once where it fits what is known without it, and the next is judged by all of it", async () => {
    const tool = labelled("at once");
    expect(checkArguments(validators, tool, args('{"labels":["a"]}'), signal)).toMatchObject({
      value: { labels: ["a"] },
    });
    // Compiled although nobody waits for it.
    await until(() => validators.lookup(tool.hash) !== undefined);
    expect(() => checkArguments(validators, tool, args('{"labels":[""]}'), signal)).toThrow(
      expect.objectContaining({ code: "ARGUMENTS_INVALID", message: expect.stringContaining("labels") }),
    );
  });

  test("waits for it where it does not, and is refused in its words", async () => {
    const tool = labelled("waits");
    const wrong = checkArguments(validators, tool, args('{"labels":[1]}'), signal);
    expect(wrong).toBeInstanceOf(Promise);
    await expect(wrong).rejects.toMatchObject({
      code: "ARGUMENTS_INVALID",
      message: expect.stringContaining("labels[0]"),
    });
  });

  test("goes on although the gateway ends before it is compiled", async () => {
    const stopping = createValidators({ clock: systemClock });
    const tool = labelled("ends");
    expect(checkArguments(stopping, tool, args('{"labels":["a"]}'), signal)).toMatchObject({ value: {} });
    await stopping[Symbol.asyncDispose]();
    expect(stopping.lookup(tool.hash)).toBeUndefined();
    await expect(
      async () => await checkArguments(stopping, tool, args('{"labels":[1]}'), signal),
    ).rejects.toMatchObject({
      code: "DRAINING",
    });
  });
});

test("what may be called next is compiled before anybody calls it, and then judged without a promise", async () => {
  const labelled = { type: "object", properties: { labels: { type: "array", contains: { type: "string" } } } };
  const [found] = sampleInstance("s", [{ name: "found", inputSchema: labelled }]).tools as [ToolEntry];
  await makeReady(validators, [tool, found]);
  expect(validators.lookup(found.hash)).toBeDefined();
  const given = toCallArguments(Buffer.from('{"labels":[1]}'));
  expect(() => checkArguments(validators, found, given, AbortSignal.timeout(30_000))).toThrow(
    expect.objectContaining({ code: "ARGUMENTS_INVALID", message: expect.stringContaining("labels") }),
  );
});

test("a gateway that stops makes nothing ready, and says nothing of it", async () => {
  const stopped = createValidators({ clock: systemClock });
  await stopped[Symbol.asyncDispose]();
  const schema = { type: "array", contains: { type: "string" } };
  const [found] = sampleInstance("s", [{ name: "late", inputSchema: schema }]).tools as [ToolEntry];
  await makeReady(stopped, [found]);
  await expect(stopped.prepare(found.hash, schema, AbortSignal.timeout(30_000))).rejects.toMatchObject({
    code: "DRAINING",
  });
  expect(stopped.lookup(found.hash)).toBeUndefined();
});

test("what may be called gives way to what is called", async () => {
  const schema = (name: string) => ({
    type: "object",
    properties: { [name]: { type: "array", contains: { type: "string" } } },
  });
  const [first, second] = sampleInstance("s", [
    { name: "first", inputSchema: schema("first") },
    { name: "second", inputSchema: schema("second") },
  ]).tools as [ToolEntry, ToolEntry];
  const called = validators.prepare("called", schema("called"), AbortSignal.timeout(60_000));
  await makeReady(validators, [first, second]);
  expect(validators.lookup(first.hash)).toBeUndefined();
  await called;
  const ready = makeReady(validators, [first, second]);
  const calledNow = validators.prepare("called now", schema("now"), AbortSignal.timeout(60_000));
  await ready;
  expect(validators.lookup(first.hash)).toBeDefined();
  await calledNow;
  expect(validators.lookup(second.hash)).toBeUndefined();
});
