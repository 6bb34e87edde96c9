import { expect, test } from "vitest";
import { fileServers, isKnownStateful, isKnownToKeepFiles, statefulServers } from "./stateful-servers.ts";

const holdsState = (...[command = "", ...args]: string[]): boolean =>
  isKnownStateful({ kind: "stdio", command, args, env: {}, cwd: "/" });

test.each([
  ["npx @playwright/mcp"],
  ["npx -y @playwright/mcp@latest --headless"],
  ["npx --yes --package=@playwright/mcp@0.0.40 playwright-mcp"],
  ["npx --package @playwright/mcp -- whatever"],
  ["npx --registry https://registry.example chrome-devtools-mcp@1"],
  ["/usr/local/bin/npx -y @modelcontextprotocol/server-puppeteer"],
  ["npx.cmd -y @wonderwhy-er/desktop-commander@latest"],
  ["cmd /c npx -y mcp-server-commands"],
  ["bunx @bytebase/dbhub"],
  ["bun x @playwright/mcp"],
  ["pnpm dlx @playwright/mcp"],
  ["npm exec -- @playwright/mcp@latest"],
  ["deno run -A npm:@playwright/mcp@latest"],
  ["node /home/me/app/node_modules/@playwright/mcp/cli.js --port 1"],
  ["node C:\\app\\node_modules\\chrome-devtools-mcp\\build\\index.js"],
  ["/home/me/app/node_modules/.bin/mcp-server-playwright"],
  ["uvx mcp-server-sqlite --db-path x.db"],
  ["uvx --python 3.12 browser-use[cli]==0.13 --mcp"],
  ["uvx --from jupyter_mcp_server>=2 start"],
  ["uv tool run postgres-mcp"],
  ["uv --directory /srv/x run mcp-server-sqlite"],
  ["uv run --with Jupyter.MCP.Server python -m something"],
  ["uv run python -m mcp_server_sqlite"],
  ["pipx run --spec mcp-pdb==0.6 x"],
  ["python3.12 -m mcp_server_sqlite"],
  ["/srv/venv/bin/jupyter-mcp-server"],
  ["docker run -i --rm -e A=b mcp/playwright:latest --headless"],
  ["podman run docker.io/mcp/postgres@sha256:0123 postgres://x"],
  ["docker run -i mcr.microsoft.com/playwright/mcp"],
  ["env DISPLAY=:1 npx -y @playwright/mcp"],
])("%s holds state", (line) => {
  expect(holdsState(...line.split(" "))).toBe(true);
});

test("a line of a shell is looked into", () => {
  expect(holdsState("sh", "-c", 'A=b exec npx -y "@playwright/mcp@latest" --headless')).toBe(true);
  expect(holdsState("bash", "-lc", "uvx mcp-server-sqlite")).toBe(true);
  expect(holdsState("sh", "-c", "sh -c 'sh -c sh'")).toBe(false);
});

test.each([
  ["npx -y @modelcontextprotocol/server-filesystem /"],
  ["npx -y @modelcontextprotocol/server-memory @playwright/mcp"],
  // The registry matters: the npm package of this name is a different one.
  ["npx -y mcp-server-sqlite"],
  ["uvx @playwright/mcp"],
  ["uvx mcp-server-fetch"],
  ["docker ps mcp/playwright"],
  ["node server.js"],
  ["node /srv/@playwright/mcp/cli.js"],
  ["npx"],
  ["env"],
  ["sh -c"],
])("%s is not known to", (line) => {
  expect(holdsState(...line.split(" "))).toBe(false);
});

test("a remote server is never taken for one", () => {
  expect(isKnownStateful({ kind: "http", url: "http://localhost/@playwright/mcp", headers: {} })).toBe(false);
});

test("every name of the table is recognised in the usual way of starting it", () => {
  const usual = { npm: ["npx", "-y"], pypi: ["uvx"], images: ["docker", "run", "-i", "--rm"], commands: [] };
  for (const group of statefulServers)
    for (const from of ["npm", "pypi", "images", "commands"] as const)
      for (const name of group[from]) expect(holdsState(...usual[from], name), `${from} ${name}`).toBe(true);
});

test("a server that is known to keep files has them at a node, unless its entry says otherwise", () => {
  const usual = { npm: ["npx", "-y"], pypi: ["uvx"], images: ["docker", "run", "-i", "--rm"], commands: [] };
  for (const group of fileServers)
    for (const from of ["npm", "pypi", "images", "commands"] as const)
      for (const name of group[from]) {
        const [command = "", ...args] = [...usual[from], name];
        expect(isKnownToKeepFiles({ kind: "stdio", command, args }), `${from} ${name}`).toBe(true);
      }
  expect(isKnownToKeepFiles({ kind: "stdio", command: "npx", args: ["@playwright/mcp"] })).toBe(false);
  expect(isKnownToKeepFiles({ kind: "http" })).toBe(false);
});
