#!/usr/bin/env node
// A well-behaved MCP server that serves the skills of a folder (SEP-2640), on stdin and stdout. Every folder in it that
// has a SKILL.md is a skill; files are read when they are asked for, so that a test changes a skill by writing one.
// `node test/servers/skill-server.mjs --folder DIR [--tool NAME]... [--scheme SCHEME] [--unlisted NAME]... [--legacy]`

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { parseArgs } from "node:util";
import { McpServer, ProtocolError } from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import * as z from "zod";

const { values: flags } = parseArgs({
  options: {
    folder: { type: "string" },
    /** Tools that answer with their own name. */
    tool: { type: "string", multiple: true, default: [] },
    scheme: { type: "string", default: "skill" },
    /** Names of skills that are served, but in no list. */
    unlisted: { type: "string", multiple: true, default: [] },
    /** Speaks revisions before 2026-07-28 only. */
    legacy: { type: "boolean", default: false },
  },
});
const prefix = `${flags.scheme}://`;
const skillFile = "/SKILL.md";

/** Paths of all files, with slashes. */
function paths() {
  return readdirSync(flags.folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(flags.folder, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .sort();
}

const bytesOf = (path) => readFileSync(join(flags.folder, path));

function toFile(path) {
  const bytes = bytesOf(path);
  const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
  return { uri: prefix + path, digest, size: bytes.length };
}

/** `key: value` in each line, a value as JSON where it is one: what of YAML the tests write. */
function frontmatterOf(path) {
  const [, block] = bytesOf(path).toString("utf8").split(/^---$/m);
  const lines = block.split("\n").filter((line) => line.includes(": "));
  return Object.fromEntries(
    lines.map((line) => {
      const [key] = line.split(": ", 1);
      const value = line.slice(key.length + 2);
      return [key, /^[[{"]/.test(value) ? JSON.parse(value) : value];
    }),
  );
}

function entryOf(path) {
  const folder = path.slice(0, 1 - skillFile.length);
  const files = paths().filter((file) => file.startsWith(folder));
  return { uri: prefix + path, frontmatter: frontmatterOf(path), resources: files.map(toFile) };
}

const skillPaths = () => paths().filter((path) => path.endsWith(skillFile));
const isListed = (path) =>
  !flags.unlisted.some((name) => path.endsWith(`/${name}${skillFile}`) || path === name + skillFile);

function find(uri) {
  const path = uri.startsWith(prefix) ? uri.slice(prefix.length) : undefined;
  if (path === undefined || !paths().includes(path)) throw new ProtocolError(-32602, `Not served: ${uri}`, { uri });
  return path;
}

function childrenOf(uri) {
  const folder = `${uri.slice(prefix.length)}/`;
  const inside = paths().filter((path) => path.startsWith(folder));
  if (inside.length === 0) throw new ProtocolError(-32602, `No directory: ${uri}`, { uri });
  const names = new Set(inside.map((path) => path.slice(folder.length).split("/")[0]));
  return [...names].map((name) => {
    const isFile = inside.includes(folder + name);
    return { uri: prefix + folder + name, name, mimeType: isFile ? "text/markdown" : "inode/directory" };
  });
}

function build() {
  const server = new McpServer(
    { name: "skill-server", version: "1.0.0" },
    {
      capabilities: {
        tools: {},
        resources: { listChanged: true },
        extensions: { "io.modelcontextprotocol/skills": { directoryRead: true } },
      },
    },
  );
  for (const name of flags.tool)
    server.registerTool(name, { description: `The tool ${name}`, annotations: { readOnlyHint: true } }, () => ({
      content: [{ type: "text", text: name }],
    }));
  server.registerTool("announce", { description: "Says that the files have changed" }, () => {
    void server.server.sendResourceListChanged();
    return { content: [] };
  });
  const low = server.server;
  low.setRequestHandler("resources/list", () => ({ resources: [] }));
  low.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [] }));
  low.setRequestHandler("resources/read", ({ params: { uri } }) => ({
    contents: [{ uri, mimeType: "text/markdown", text: bytesOf(find(uri)).toString("utf8") }],
  }));
  low.setRequestHandler("skills/list", { params: z.looseObject({}) }, () => ({
    skills: skillPaths().filter(isListed).map(entryOf),
  }));
  low.setRequestHandler("skills/get", { params: z.looseObject({ uri: z.string() }) }, ({ uri }) => ({
    skill: entryOf(find(uri)),
  }));
  low.setRequestHandler("resources/directory/read", { params: z.looseObject({ uri: z.string() }) }, ({ uri }) => ({
    resources: childrenOf(uri),
  }));
  return server;
}

if (flags.legacy) await build().connect(new StdioServerTransport());
else serveStdio(build);
