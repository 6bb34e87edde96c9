// Markdown as GitHub shows it, with the anchors that GitHub gives headings, so that a link works in both places.
import GithubSlugger from "github-slugger";
import MarkdownIt from "markdown-it";

const markdown = new MarkdownIt({ html: true, linkify: false });

/**
 * A page's parts: its tokens for rendering, its headings with their anchors, and every link and picture with its line.
 * @param {string} text
 */
export function readPage(text) {
  const tokens = markdown.parse(text, {});
  const slugger = new GithubSlugger();
  const headings = [];
  const links = [];
  for (const [index, token] of tokens.entries()) {
    if (token.type === "heading_open") {
      const text = plainText(tokens[index + 1]);
      const anchor = slugger.slug(text);
      token.attrSet("id", anchor);
      headings.push({ level: Number(token.tag.slice(1)), text, anchor });
    }
    if (token.type === "inline") links.push(...linksOf(token));
  }
  return { tokens, headings, links, title: headings[0]?.text };
}

/**
 * The page's HTML.
 * @param {ReturnType<typeof readPage>} page
 * @param {(target: string) => string} toHref where a link leads in the site
 */
export function renderPage({ tokens }, toHref) {
  for (const token of tokens)
    for (const child of token.children ?? []) {
      if (child.type === "link_open") child.attrSet("href", toHref(child.attrGet("href")));
      if (child.type === "image") child.attrSet("src", toHref(child.attrGet("src")));
    }
  const html = markdown.renderer.render(tokens, markdown.options, {});
  // A wide table scrolls without the page, and can be reached with the keyboard.
  return (
    html
      .replaceAll("<table>", '<div class="wide" tabindex="0" role="group" aria-label="Table"><table>')
      .replaceAll("</table>", "</table></div>")
      // A column without a title has no header that could be read out.
      .replaceAll(/<th(?: style="[^"]*")?><\/th>/g, "<td></td>")
      // Blocks of code, too; a button is put beside each.
      .replaceAll("<pre>", '<div class="code"><pre tabindex="0">')
      .replaceAll("</pre>", "</pre></div>")
      // Styles in the text would need a weaker Content-Security-Policy.
      .replaceAll(/ style="text-align:(\w+)"/g, ' class="$1"')
  );
}

/** Blocks of code with their language and line: what tests run, parse or check. */
export function codeBlocks(text) {
  return markdown
    .parse(text, {})
    .filter(({ type }) => type === "fence" || type === "code_block")
    .map(({ info, content, map }) => ({ language: info.trim(), content, line: (map?.[0] ?? 0) + 1 }));
}

/** Code within sentences, such as names of commands. */
export function codeSpans(text) {
  return markdown
    .parse(text, {})
    .flatMap(({ children, map }) =>
      (children ?? [])
        .filter(({ type }) => type === "code_inline")
        .map(({ content }) => ({ content, line: (map?.[0] ?? 0) + 1 })),
    );
}

function plainText({ children }) {
  return children
    .filter(({ type }) => type === "text" || type === "code_inline")
    .map(({ content }) => content)
    .join("");
}

function linksOf({ children, map }) {
  const line = (map?.[0] ?? 0) + 1;
  return (children ?? []).flatMap((child) => {
    if (child.type === "link_open") return [{ target: child.attrGet("href"), line }];
    if (child.type === "image") return [{ target: child.attrGet("src"), line }];
    return [];
  });
}
