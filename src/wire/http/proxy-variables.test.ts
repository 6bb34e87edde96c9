import { expect, test } from "vitest";
import { proxyFromVariables } from "./proxy-variables.ts";

const both = { HTTPS_PROXY: "http://secure:1", http_proxy: "http://plain:2" };

test.each([
  ["https://api.example.com/mcp", both, "http://secure:1"],
  ["http://api.example.com/mcp", both, "http://plain:2"],
  ["https://api.example.com/", { http_proxy: "http://plain:2" }, undefined],
  ["https://api.example.com/", { https_proxy: "http://a:1", HTTPS_PROXY: "http://b:1" }, "http://a:1"],
  ["https://api.example.com/", { https_proxy: "", HTTPS_PROXY: "b:1" }, "http://b:1"],
  ["https://api.example.com/", {}, undefined],
  ["https://localhost/", both, undefined],
  ["http://127.0.0.1:3000/", both, undefined],
  ["http://[::1]:3000/", both, undefined],
  ["http://127.example.com/", both, "http://plain:2"],
])("%s with %j goes through %s", (url, variables, proxy) => {
  expect(proxyFromVariables(new URL(url), variables)).toBe(proxy);
});

test.each([
  ["*", true],
  ["example.com", true],
  [".example.com", true],
  ["*.example.com", true],
  ["other.org, API.example.com", true],
  ["other.org api.example.com", true],
  ["example.com:443", true],
  ["example.com:8443", false],
  ["ample.com", false],
  ["api.example.com.evil.org", false],
  ["", false],
  [" , ,", false],
])("NO_PROXY=%j spares https://api.example.com: %s", (noProxy, isSpared) => {
  const proxy = proxyFromVariables(new URL("https://api.example.com/mcp"), { ...both, NO_PROXY: noProxy });
  expect(proxy).toBe(isSpared ? undefined : "http://secure:1");
});
