import { parseArgs } from "node:util";
import { expect, test } from "vitest";
import { unknownCommand, wrongOption } from "./mistyped.ts";

function failureOf(...args: string[]): unknown {
  try {
    return parseArgs({ args, options: { port: { type: "string" }, json: { type: "boolean" } } });
  } catch (error) {
    return error;
  }
}

test("a command that does not exist is answered with the one that was probably meant", () => {
  const known = ["search", "status", "serve"];
  expect(unknownCommand("serach", known)).toBe(
    'there is no command "serach"; did you mean `search`?\n  `toolyard --help` lists them.',
  );
  expect(unknownCommand("frobnicate", known)).toBe('there is no command "frobnicate"\n  `toolyard --help` lists them.');
});

test("an option that does not exist is named as it was written, with the help of its command", () => {
  const known = ["port", "json"];
  expect(wrongOption(failureOf("--prot", "3"), "serve", known)).toBe(
    "there is no option --prot; did you mean `--port`?\n  `toolyard serve --help` lists them.",
  );
  expect(wrongOption(failureOf("-x"), undefined, known)).toBe(
    "there is no option -x\n  `toolyard --help` lists them. An argument that begins with `-` goes after `--`.",
  );
});

test("of an option without its value Node says what is missing", () => {
  expect(wrongOption(failureOf("--port"), "serve", ["port"])).toContain("argument missing");
});
