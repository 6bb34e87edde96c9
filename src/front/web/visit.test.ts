import { expect, test } from "vitest";
import { safeNext } from "./visit.ts";

test("after a login people come to pages of the gateway, and nowhere else", () => {
  for (const next of ["/account", "/oauth/interaction/a-B_9", "/oauth/device", "/oauth/device?user_code=ABCD-EFGH"])
    expect(safeNext(next)).toBe(next);
  for (const next of ["/connect/own-red-m_1-0f", "/connect/a%40b", "/invite/ty_inv_0f"])
    expect(safeNext(next)).toBe(next);
  for (const next of [
    null,
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
    expect(safeNext(next)).toBe("/account");
});
