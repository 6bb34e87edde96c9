import { expect, test } from "vitest";
import { encodeHeaderValue, isHeaderName } from "./header-value.ts";

test.each([
  ["us-west1", "us-west1"],
  ["Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="],
  [" padded ", "=?base64?IHBhZGRlZCA=?="],
  ["line1\nline2", "=?base64?bGluZTEKbGluZTI=?="],
  ["=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="],
  ["a\r\nX-Evil: 1", "=?base64?YQ0KWC1FdmlsOiAx?="],
  ["file:///a b\tc", "file:///a b\tc"],
  ["", "=?base64??="],
])("FAULT 46: %j becomes %j", (value, encoded) => {
  expect(encodeHeaderValue(value)).toBe(encoded);
});

test("names are tokens", () => {
  expect(isHeaderName("Region-2")).toBe(true);
  for (const name of ["", "a b", "a:b", "a\r\nb", "ä"]) expect(isHeaderName(name)).toBe(false);
});
