import { expect, test } from "vitest";
import { summarizeStderr } from "./closed-cause.ts";

const npm404 = `npm error code E404
npm error 404 Not Found - GET https://registry.npmjs.org/no-such-package - Not found
npm error 404
npm error 404  The requested resource 'no-such-package@*' could not be found or you do not have permission to access it.
npm error 404
npm error 404 Note that you can also install from a
npm error 404 tarball, folder, http url, or git url.
npm error A complete log of this run can be found in: /home/a/.npm/_logs/x-debug-0.log`;

const nodeModule = `node:internal/modules/cjs/loader:1210
  throw err;
  ^

Error: Cannot find module '/srv/dist/index.js'
    at Module._resolveFilename (node:internal/modules/cjs/loader:1207:15)
    at node:internal/main/run_main_module:28:49 {
  code: 'MODULE_NOT_FOUND',
  requireStack: []
}

Node.js v20.20.2`;

const traceback = `Traceback (most recent call last):
  File "/srv/server.py", line 1, in <module>
    import error_tools
ModuleNotFoundError: No module named 'error_tools'`;

test.each([
  ["npm", npm404, /^npm error code E404 \| npm error 404 Not Found - GET \S+no-such-package/],
  ["Node", nodeModule, /^Error: Cannot find module '\/srv\/dist\/index.js' \|/],
  ["Python", traceback, /^ModuleNotFoundError: No module named 'error_tools'$/],
  [
    "a port",
    "starting\nError: listen EADDRINUSE: address already in use :::3000\n    at Server.x (y)\n  code: 'EADDRINUSE',",
    /^Error: listen EADDRINUSE/,
  ],
  ["a shell", "sh: 1: mcp-server: not found\nbye", /^sh: 1: mcp-server: not found/],
  [
    "docker",
    "docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock.\n\nRun 'docker run --help' for more information",
    /^docker: Cannot connect to the Docker daemon/,
  ],
  [
    "a thrown error",
    "loading\nTypeError: x is not a function\n    at a (b)\nNode.js v22.0.0",
    /^TypeError: x is not a function$/,
  ],
  ["nothing in particular", "one\ntwo\nthree\n\nfour", /^two \| three \| four$/],
])("the cause is found in what %s writes", (_who, text, expected) => {
  expect(summarizeStderr(text.split("\n")).join(" | ")).toMatch(expected);
});

test("no line is longer than a person reads, and nothing gives nothing", () => {
  expect(summarizeStderr(["y".repeat(4_000)])[0]).toHaveLength(200);
  expect(summarizeStderr([])).toEqual([]);
});
