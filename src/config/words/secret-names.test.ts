import { expect, test } from "vitest";
import { secretMembers } from "./secret-members.ts";
import { isSecretName } from "./secret-names.ts";

test.each([
  ...["password", "newPassword", "DB_PASSWORD", "passwd", "secret", "clientSecret", "client_secret", "token"],
  ...["accessToken", "access_tokens", "api_key", "apiKey", "x-api-key", "authorization", "Authorization", "cookie"],
  ...[
    "Set-Cookie",
    "credential",
    "credentials",
    "private_key",
    "secretAccessKey",
    "passphrase",
    "otp",
    "pin",
    "userPin",
  ],
  ...["pinCode", "password2", "passwordConfirmation", "secretValue", "auth", "jwt"],
])("FAULT J: the name %s says that it is secret", (name) => expect(isSecretName(name)).toBe(true));

test.each([
  ...["tokens", "maxTokens", "max_tokens", "tokenizer", "secretary", "author", "spin", "ping", "key", "passwordLength"],
  ...["name", "code", "", "-", "x".repeat(10_000), "passenger", "compass"],
])("the name %s does not", (name) => expect(isSecretName(name)).toBe(false));

test("FAULT J: a schema marks members by writeOnly, format and x-secret, at any depth and through references", () => {
  const schema = {
    type: "object",
    properties: {
      user: { type: "string" },
      memo: { type: "string", writeOnly: true },
      codes: { type: "array", items: { format: "password" } },
      env: { type: "object", additionalProperties: { "x-secret": true } },
      login: { anyOf: [{ type: "null" }, { $ref: "#/$defs/Login" }] },
      key: { $ref: "#/$defs/Key~1Text" },
      more: { oneOf: [{ properties: { deep: { allOf: [{ format: "password" }] } } }] },
    },
    $defs: {
      Login: { properties: { word: { format: "password" }, next: { $ref: "#/$defs/Login" } } },
      "Key/Text": { writeOnly: true },
    },
  };
  expect([...secretMembers(schema)].sort()).toEqual(["codes", "deep", "env", "key", "memo", "word"]);
});

test("schemas that mark nothing, refer nowhere or to themselves, or are no schemas mark nothing", () => {
  const endless: Record<string, unknown> = { $ref: "#/properties/a", properties: { a: { $ref: "#/properties/a" } } };
  for (const schema of [{}, true, null, "x", [], endless, { properties: { a: { $ref: "#/nowhere" }, b: 1 } }])
    expect(secretMembers(schema).size).toBe(0);
});

test("a schema that refers to the same part again and again is looked at once", () => {
  const $defs: Record<string, unknown> = { d0: { format: "password" } };
  for (let index = 1; index < 60; index += 1) {
    const $ref = `#/$defs/d${index - 1}`;
    $defs[`d${index}`] = { properties: { a: { $ref }, b: { $ref }, c: { $ref } } };
  }
  expect(secretMembers({ $defs, properties: { all: { $ref: "#/$defs/d20" } } })).toEqual(new Set(["a", "b", "c"]));
});
