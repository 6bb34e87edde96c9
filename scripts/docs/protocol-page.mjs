// docs/protocol.md: what MCP asks of a gateway, and the tests that hold it, from test/protocol/requirements.mjs and
// the tests' titles.

import { cell, link } from "./cells.mjs";
import { isNamed } from "./test-titles.mjs";

/** @typedef {import("../../test/protocol/requirements.mjs").Section} Section */

/**
 * The tests that hold each requirement.
 * @param {readonly Section[]} sections
 * @param {readonly { file: string, title: string }[]} titles
 * @returns {{ section: string, title: string, rows: { level: string, text: string, held: { file: string, title: string
 *   }[], missing: string[] }[] }[]}
 */
export function heldBy(sections, titles) {
  return sections.map(({ section, title, requirements }) => ({
    section,
    title,
    rows: requirements.map(({ level, text, tests }) => {
      const found = tests.map((start) => ({ start, matches: titles.filter((test) => isNamed(test, start)) }));
      const held = found.flatMap(({ matches }) => matches);
      return {
        level,
        text,
        held: held.filter((test, at) => held.indexOf(test) === at),
        missing: found.filter(({ matches }) => matches.length === 0).map(({ start }) => start),
      };
    }),
  }));
}

/** @param {ReturnType<typeof heldBy>} held */
export function protocolPage(held) {
  const count = held.reduce((sum, { rows }) => sum + rows.length, 0);
  return `${opening(count)}\n${held.map(part).join("\n")}`;
}

const opening = (count) => `# What MCP requires, and the tests that prove it

<!-- Made by scripts/write-docs.mjs from test/protocol/requirements.mjs and the titles of the tests. Do not edit. -->

${count} requirements of the specification (2026-07-28; others name their revision) that concern something between clients and servers:
towards clients the gateway is a server, towards servers a client. A test fails when a requirement has no test.
`;

function part({ section, title, rows }) {
  const lines = rows.map(({ level, text, held }) => `| ${level} | ${cell(text)} | ${held.map(link).join("<br>")} |`);
  return `## ${title} (${section})\n\n| | Requirement | Test |\n|---|---|---|\n${lines.join("\n")}\n`;
}
