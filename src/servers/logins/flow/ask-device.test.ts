import { describe, expect, test } from "vitest";
import { logInWith } from "../../../../test/oauth/odd-login.ts";
import type { OddAnswers } from "../../../../test/oauth/odd-server.ts";

const form = "application/x-www-form-urlencoded";

describe("the device flow", () => {
  const typed = { device: () => undefined };

  test("takes lifetimes as text, waits while an error comes with HTTP 200, and reads a form", async () => {
    const pending = { status: 200, body: JSON.stringify({ error: "authorization_pending" }) };
    const tokens = [pending, { status: 200, type: form, body: "access_token=t1&refresh_token=r1&expires_in=60" }];
    const device = { expires_in: "600", interval: "1", verification_uri_complete: null };
    expect((await logInWith({ tokens, device }, typed)).tokens).toMatchObject({ access: "t1", expiresAtMs: 60_000 });
  });

  test.each<readonly [string, OddAnswers, string]>([
    ["no user_code", { device: { user_code: null } }, "has null as user_code"],
    ["an empty device_code", { device: { device_code: "" } }, "has an empty device_code"],
    ["an address that is a number", { device: { verification_uri: 5 } }, "has a number as verification_uri"],
    [
      "an error with HTTP 200",
      { device: { error: "unauthorized_client" } },
      "started no device flow: unauthorized_client",
    ],
    ["an empty endpoint", { metadata: () => ({ device_authorization_endpoint: "" }) }, "has no device flow"],
  ])("is refused with %s", async (_what, answers, sentence) => {
    await expect(logInWith(answers, typed)).rejects.toThrow(sentence);
  });
});
