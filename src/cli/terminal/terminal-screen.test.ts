import { expect, test } from "vitest";
import { createTerminalScreen, fitLine } from "./terminal-screen.ts";

function record(columns = 20, rows = 6) {
  const size = { columns, rows };
  const written: string[] = [];
  return {
    size,
    written,
    screen: createTerminalScreen(
      (text) => written.push(text),
      () => size,
    ),
  };
}

test("lines are drawn over those before, and printed ones stay above", () => {
  const { screen, written } = record();
  screen.show(["one", "two"]);
  screen.print("said\n");
  screen.show(["three"]);
  screen.show([]);
  expect(written).toEqual(["one\ntwo", "\r\u001b[1A\u001b[Jsaid\none\ntwo", "\r\u001b[1A\u001b[Jthree", "\r\u001b[2K"]);
});

test("what is the same is not written again", () => {
  const { screen, written } = record();
  screen.show(["one"]);
  screen.show(["one"]);
  expect(written).toEqual(["one"]);
});

test("what is too long or too much for the screen is left out", () => {
  const { screen, written } = record(10, 3);
  screen.show(["0123456789abc", "日本語日本語", "third"]);
  expect(written).toEqual(["012345678\n日本語日"]);
});

test("in a window that has become narrower, each line may take several rows", () => {
  const { screen, written, size } = record(20, 10);
  screen.show(["0123456789012345678", "b"]);
  size.columns = 10;
  screen.show(["new"]);
  expect(written.at(-1)).toBe("\r\u001b[2A\u001b[Jnew");
});

test("a coloured line that is cut does not colour what follows", () => {
  expect(fitLine("\u001b[31mred and long\u001b[39m", 5)).toBe("\u001b[31mred a\u001b[0m");
  expect(fitLine("\u001b[31mred\u001b[39m", 5)).toBe("\u001b[31mred\u001b[39m");
});
