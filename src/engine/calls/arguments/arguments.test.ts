import { expect, test } from "vitest";
import { sampleInstance } from "../../../../test/sample-catalog.ts";
import { systemClock } from "../../../kernel/runtime/clock.ts";
import { noArguments, toCallArguments } from "../../../kernel/call/call-context.ts";
import type { ToolEntry } from "../../../catalog/model/snapshot.ts";
import { checkArguments } from "./arguments.ts";
import { createValidators } from "../../validation/validators.ts";
import { patientLimits } from "../../../../test/harness/patient-limits.ts";

const validators = createValidators({ clock: systemClock, limits: patientLimits });

const schema = {
  type: "object",
  properties: { owner: { type: "string" }, count: { type: "integer", minimum: 1 } },
  required: ["owner"],
  additionalProperties: false,
};
const tool = sampleInstance("s", [{ name: "t", inputSchema: schema }]).tools[0] as ToolEntry;
const check = (text: string | undefined) =>
  checkArguments(validators, tool, text === undefined ? noArguments : toCallArguments(Buffer.from(text)));

test("arguments that fit go on as the bytes that they are", () => {
  const text = '{ "owner":"\\u0041", "count": 2 }';
  expect(check(text).bytes?.toString()).toBe(text);
});

test.each([
  ["{}", "owner"],
  ['{"owner":7}', "owner"],
  ['{"owner":"a","count":0}', "count"],
  ['{"owner":"a","count":"1"}', "count"],
  ['{"owner":"a","x":1}', "x"],
])("%s is refused before the server sees it, and the field is named", (text, field) => {
  expect(() => check(text)).toThrow(
    expect.objectContaining({
      code: "ARGUMENTS_INVALID",
      message: expect.stringContaining(field),
      data: expect.objectContaining({ tool_path: "s:t" }),
    }),
  );
});

test("what is no object is refused; none at all is an empty one", () => {
  for (const text of ["[]", "1", '"x"', "null"])
    expect(() => check(text), text).toThrow(expect.objectContaining({ code: "ARGUMENTS_INVALID" }));
  expect(() => check(undefined)).toThrow(
    expect.objectContaining({ code: "ARGUMENTS_INVALID", message: expect.stringContaining("owner") }),
  );
});

test("FAULT 61: what cannot be checked of a schema refuses nothing", () => {
  const properties = { a: { $ref: "https://example.invalid/x.json" }, b: { type: "string" } };
  const [hostile, unknown] = sampleInstance("s", [
    { name: "u", inputSchema: { type: "object", properties } },
    { name: "v", inputSchema: { $schema: "https://example.invalid/dialect", type: "object", properties } },
  ]).tools as [ToolEntry, ToolEntry];
  const args = (text: string) => toCallArguments(Buffer.from(text));
  expect(checkArguments(validators, hostile, args('{"a":1}'))).toMatchObject({ value: { a: 1 } });
  expect(() => checkArguments(validators, hostile, args('{"b":1}'))).toThrow(
    expect.objectContaining({ code: "ARGUMENTS_INVALID", message: expect.stringContaining("`b` must be a string") }),
  );
  expect(checkArguments(validators, unknown, args('{"b":1}'))).toMatchObject({ value: { b: 1 } });
});

test("a first call is judged at once, by all that its schema says", () => {
  const labels = { type: "array", items: { type: "string" }, contains: { minLength: 1 } };
  const inputSchema = { type: "object", properties: { labels }, required: ["labels"] };
  const [labelled] = sampleInstance("s", [{ name: "label", inputSchema }]).tools as [ToolEntry];
  expect(() => checkArguments(validators, labelled, toCallArguments(Buffer.from('{"labels":[""]}')))).toThrow(
    expect.objectContaining({ code: "ARGUMENTS_INVALID", message: expect.stringContaining("labels") }),
  );
});
