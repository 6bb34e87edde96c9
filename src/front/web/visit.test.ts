import { expect, test } from "vitest";
import { safeNext } from "./visit.ts";

test("after a login people come to pages of the gateway, and nowhere else", () => {
  for (const next of ["/account", "/oauth/interaction/a-B_9", "/oauth/device", "/oauth/device?user_code=ABCD-EFGH"])
    expect(safeNext(next, "/home")).toBe(next);
  for (const next of ["/connect/own-red-m_1-0f", "/connect/a%40b", "/invite/ty_inv_0f"])
    expect(safeNext(next, "/home")).toBe(next);
  for (const next of [
    "/ui/",
    "/ui/people?tab=users",
    "/ui/run/mail%3Asend",
    "/ui/search?query=add%20two",
    "/ui/servers/a.b",
  ])
    expect(safeNext(next, "/home")).toBe(next);
  for (const next of [
    null,
    "/ui",
    "/ui/../auth/logout",
    "/ui/a/..",
    "/ui/./x",
    "/ui/\\evil.example",
    "/ui/#code=x",
    "/ui/?next=<script>",
    `/ui/${"a".repeat(2_000)}`,
    "",
    "//evil.example",
    "https://evil.example/account",
    "/\\evil.example",
    "/account/../../x",
    "/connect/..",
    "/connect/a/../../x",
    "/invite/",
    "/invite//evil.example",
    "/account\n",
    "/oauth/interaction/../../x",
    "/oauth/interaction/a//evil.example",
    "javascript:alert(1)",
    "/oauth/device?user_code=<script>",
  ])
    expect(safeNext(next, "/ui/")).toBe("/ui/");
});
