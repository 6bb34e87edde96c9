import { expect, test } from "vitest";
import { createWatchedResources } from "./watched-resources.ts";

/** Watches the URIs, each under a key of its own, and notes which are released. */
function watch(...uris: string[]) {
  const watched = createWatchedResources();
  const released: string[] = [];
  for (const uri of uris) watched.add(uri, `key of ${uri}`, () => void released.push(uri));
  return { watched, released };
}

test("what is watched is known by the client's spelling, and found by the server's", () => {
  const { watched } = watch("a", "b");
  expect([watched.size, watched.has("a"), watched.has("key of a")]).toEqual([2, true, false]);
  expect([...watched.spellings]).toEqual([
    ["key of a", "a"],
    ["key of b", "b"],
  ]);
});

test("what is released is forgotten, and released once", () => {
  const { watched, released } = watch("a", "b");
  watched.release("a");
  watched.release("a");
  watched.release("unknown");
  expect(released).toEqual(["a"]);
  expect([watched.has("a"), watched.spellings.has("key of a"), watched.size]).toEqual([false, false, 1]);
});

test("at the end all are released, and nothing is left", () => {
  const { watched, released } = watch("a", "b", "c");
  watched.release("b");
  watched.releaseAll();
  watched.releaseAll();
  expect(released).toEqual(["b", "a", "c"]);
  expect([watched.size, watched.spellings.size]).toEqual([0, 0]);
});

test("two subscriptions to one resource on their way at the same time: the second is given back", () => {
  const { watched, released } = watch("a");
  watched.add("a", "key of a", () => void released.push("the second"));
  expect(released).toEqual(["the second"]);
  watched.releaseAll();
  expect(released).toEqual(["the second", "a"]);
});
