// The index that search in the site reads: one entry for each heading, with the text below it.
import MiniSearch from "minisearch";
import { indexOptions } from "./browser/search-options.mjs";

const beginLength = 140;

/**
 * A page's sections, each with its address in the site.
 * @param {ReturnType<import("./markdown.mjs").readPage>} page
 * @param {{ output: string, title: string }} place
 */
export function sectionsOf({ tokens }, { output, title }) {
  const sections = [];
  for (const [index, token] of tokens.entries()) {
    if (token.type === "heading_open")
      sections.push({
        href: sections.length === 0 ? output : `${output}#${token.attrGet("id")}`,
        heading: plain(tokens[index + 1]),
        title,
        texts: [],
      });
    const isHeading = tokens[index - 1]?.type === "heading_open";
    if (!isHeading && ["inline", "fence", "code_block"].includes(token.type)) sections.at(-1)?.texts.push(plain(token));
  }
  return sections.map(({ texts, ...section }) => ({ ...section, text: texts.join(" ") }));
}

/** The index of all sections, serialised. */
export function searchIndex(sections) {
  const index = new MiniSearch(indexOptions);
  index.addAll(sections.map((section, id) => ({ ...section, id, begin: beginOf(section.text) })));
  return JSON.stringify(index);
}

/** What a reader sees of a token. */
function plain({ children, content }) {
  if (children === null) return content;
  return children
    .map((child) =>
      ["text", "code_inline"].includes(child.type) ? child.content : child.type === "softbreak" ? " " : "",
    )
    .join("");
}

function beginOf(text) {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= beginLength ? line : `${line.slice(0, line.lastIndexOf(" ", beginLength))} …`;
}
