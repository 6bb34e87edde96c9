import { describe, expect, test } from "vitest";
import { route, type Route } from "./route.ts";
import { createRouter, splitTarget } from "./router.ts";

const at = (method: Route["method"], path: string): Route =>
  route({ method, path, right: { role: "anyone", scope: "mcp:read" }, handle: () => ({ headers: {}, body: "" }) });

const router = createRouter([
  at("GET", "/api/tools"),
  at("GET", "/api/tools/{path}"),
  at("POST", "/api/instances/{id}/token"),
  at("DELETE", "/api/instances/{id}/token"),
  at("GET", "/well-known/*"),
  at("POST", "/api/servers/test"),
  at("GET", "/api/servers/{slug}"),
  at("POST", "/api/servers/{slug}/test"),
]);
const found = (path: string): unknown => {
  const place = router.find(path);
  return place && [[...place.methods.keys()], place.params];
};

describe("the router", () => {
  test.each([
    ["/api/tools", [["GET"], {}]],
    ["/api/tools/", [["GET"], {}]],
    ["/%61pi/tools", [["GET"], {}]],
    ["/api/tools/a:b", [["GET"], { path: "a:b" }]],
    ["/api/tools/a%2Fb/", [["GET"], { path: "a/b" }]],
    ["/api/tools/__proto__", [["GET"], { path: "__proto__" }]],
    ["/api/instances/x/token", [["POST", "DELETE"], { id: "x" }]],
    ["/api/instances//token", [["POST", "DELETE"], { id: "" }]],
    ["/well-known/a/b", [["GET"], {}]],
    ["/api/servers/test", [["GET", "POST"], { slug: "test" }]],
    ["/api/servers/test/test", [["POST"], { slug: "test" }]],
    ["/api/servers/other", [["GET"], { slug: "other" }]],
  ])("finds what stands at %s", (path, expected) => expect(found(path)).toEqual(expected));

  test.each([
    "/",
    "/api",
    "/api%2Ftools",
    "/API/tools",
    "/api/tools/a/b",
    "/api/instances/x",
    "/well-known",
    "/*",
    "/api/tools/{path}/x",
  ])("finds nothing at %s", (path) => expect(found(path)).toBeUndefined());

  test("refuses a path that is no percent-encoding, and a segment longer than any name", () => {
    for (const path of ["/%", "/api/tools/%ff", "/nothing/%E0%A4%A", `/api/tools/${"x".repeat(4_097)}`])
      expect(() => router.find(path)).toThrow(expect.objectContaining({ code: "REQUEST_INVALID" }));
    expect(found(`/api/tools/${"x".repeat(4_096)}`)).toBeDefined();
  });

  test("does not take two routes for one method and path", () => {
    expect(() => createRouter([at("GET", "/a"), at("GET", "/a")])).toThrow("GET /a is defined twice");
  });

  test.each([
    ["/a?b=1", "/a", "b=1"],
    ["/a?b=1?c#d", "/a", "b=1?c"],
    ["/a#b?c", "/a", ""],
    ["http://host:1/a?b", "/a", "b"],
    ["http://host", "/", ""],
    ["*", "*", ""],
  ])("takes the target %s apart", (target, path, query) => expect(splitTarget(target)).toEqual({ path, query }));
});
