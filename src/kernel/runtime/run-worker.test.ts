import { expect, test } from "vitest";
import { workerUrl } from "./run-worker.ts";

test("a built file's worker lies beside it", () => {
  expect(workerUrl("file:///app/dist/cli/chunk-1.js", "work").href).toBe("file:///app/dist/cli/work.js");
});

test("a source file's worker is the built one", () => {
  expect(workerUrl("file:///home/src/app/src/routing/compiler.ts", "work").href).toBe(
    "file:///home/src/app/dist/cli/work.js",
  );
  expect(() => workerUrl("file:///app/routing/compiler.ts", "work")).toThrow("no src folder");
});
