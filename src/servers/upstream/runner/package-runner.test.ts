import { expect, test } from "vitest";
import { packageRunnerOf } from "./package-runner.ts";

const runnerOf = (line: string) => {
  const [command = "", ...args] = line.split(" ");
  return packageRunnerOf({ kind: "stdio", command, args, env: {}, cwd: "/" });
};

test.each([
  ["npx -y @scope/server@1 /data", "npx"],
  ["/usr/local/bin/npx server", "npx"],
  ["C:\\node\\npx.cmd -y server", "npx"],
  ["cmd /c npx -y server", "npx"],
  ["npm exec --yes server", "npx"],
  ["pnpm dlx server", "npx"],
  ["yarn dlx server", "npx"],
  ["uvx mcp-server-git", "uvx"],
  ["uv tool run mcp-server-git", "uvx"],
  ["uv run --with fastmcp fastmcp run server.py", "uvx"],
  ["bunx server", "bunx"],
  ["bun x server", "bunx"],
  ["pipx run server", "pipx"],
  ["docker run -i --rm mcp/fetch", "docker"],
  ["docker --context far container run -i mcp/fetch", "docker"],
])("%s may have to fetch a package", (line, runner) => expect(runnerOf(line)).toBe(runner));

test.each([
  "node npx.js",
  "npm start",
  "pnpm start",
  "uv pip list",
  "bun server.ts",
  "docker exec -i box server",
  "python -m npx",
])("%s fetches nothing", (line) => expect(runnerOf(line)).toBeUndefined());

test("a remote server has no runner", () => {
  expect(packageRunnerOf({ kind: "http", url: "http://localhost/npx", headers: {} })).toBeUndefined();
});
