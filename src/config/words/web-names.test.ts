import { expect, test } from "vitest";
import { toRootUri } from "./web-names.ts";

const places = { directory: "/etc/yard", home: "/home/me" };

test.each([
  ["/srv/files", "file:///srv/files"],
  ["notes", "file:///etc/yard/notes"],
  ["../a b#c", "file:///etc/a%20b%23c"],
  ["~", "file:///home/me"],
  ["~/drafts", "file:///home/me/drafts"],
  ["~other", "file:///etc/yard/%7Eother"],
  ["file:///srv/x%20y", "file:///srv/x%20y"],
  ["FILE:///srv", "FILE:///srv"],
])("%s is the root %s", (written, uri) => {
  expect(toRootUri(written, places)).toBe(uri);
});

test.each(["https://example.com/x", "ssh://host/x"])("%s is no root", (written) => {
  expect(toRootUri(written, places)).toBeUndefined();
});

test("without a home directory `~` is the name of a folder", () => {
  expect(toRootUri("~/x", { ...places, home: undefined })).toBe("file:///etc/yard/%7E/x");
});
