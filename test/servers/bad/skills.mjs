// Skills, for --skills: files under skill://, their entries, and directories (extension Skills, SEP-2640).

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const skillText = (name, description) => `---\nname: ${name}\ndescription: ${description}\n---\n# ${name}\n`;

/** Files by address. The second skill is served, but not listed. */
const files = new Map([
  ["skill://acme/refunds/SKILL.md", skillText("refunds", "Gives money back: größer als 5 €")],
  ["skill://acme/refunds/examples/email.md", "Dear customer\n"],
  ["skill://hidden/SKILL.md", skillText("hidden", "Is found only by its address")],
]);

const directories = {
  "skill://acme/refunds": [
    { uri: "skill://acme/refunds/SKILL.md", name: "SKILL.md", mimeType: "text/markdown" },
    { uri: "skill://acme/refunds/examples", name: "examples", mimeType: "inode/directory" },
  ],
};

function entryOf(uri) {
  const directory = uri.slice(0, -"SKILL.md".length);
  const [, name, description] = /name: (.*)\ndescription: (.*)\n/.exec(files.get(uri));
  const resources = [...files]
    .filter(([file]) => file.startsWith(directory))
    .map(([file, text]) => ({
      uri: file,
      digest: `sha256:${createHash("sha256").update(text).digest("hex")}`,
      size: Buffer.byteLength(text),
    }));
  return { uri, frontmatter: { name, description, "x-own": { kept: [1] } }, resources };
}

const isSkill = (uri) => files.has(uri) && uri.endsWith("/SKILL.md");
const unknown = (exchange) => exchange.fail(-32602, `Not served: ${exchange.params.uri}`, { uri: exchange.params.uri });
const caching = ({ era, server }) => (era === "modern" ? server.lists.caching() : {});

/** Three thousand entries on a page: what a server with many of them would send at once. */
const pageSize = 3_000;

function listFile(exchange) {
  const entries = JSON.parse(readFileSync(exchange.server.options["skills-json"], "utf8"));
  const start = Number(exchange.params.cursor ?? 0);
  const end = start + pageSize;
  const next = end < entries.length ? { nextCursor: String(end) } : {};
  exchange.answer({ skills: entries.slice(start, end), ...next, ...caching(exchange) });
}

export const skillMethods = {
  "skills/list": (exchange) =>
    exchange.server.options["skills-json"] !== undefined
      ? listFile(exchange)
      : exchange.params.cursor === undefined
        ? exchange.answer({ skills: [], nextCursor: "second page", ...caching(exchange) })
        : exchange.answer({ skills: [entryOf("skill://acme/refunds/SKILL.md")], ...caching(exchange) }),
  "skills/get": (exchange) =>
    isSkill(exchange.params.uri) ? exchange.answer({ skill: entryOf(exchange.params.uri) }) : unknown(exchange),
  "resources/directory/read"(exchange) {
    const found = Object.hasOwn(directories, exchange.params.uri) ? directories[exchange.params.uri] : undefined;
    return found === undefined ? unknown(exchange) : exchange.answer({ resources: found });
  },
};

/** The text of a skill's file; undefined for every other address. */
export const skillFile = (uri) => files.get(uri);
