/**
 * The rows of docs/design.md that come from the table of exposures.
 * @param {Readonly<Record<string, { readonly about: string, readonly showsOneServer: boolean }>>} exposures
 * @returns {string}
 */
export function exposureRows(exposures) {
  const rows = Object.entries(exposures).map(([name, { about, showsOneServer }]) => {
    const path = showsOneServer ? `/mcp/${name}/{slug}` : `/mcp/${name}`;
    return `| \`${path}\` | ${about} ([more](exposures/${name}.md)) |`;
  });
  return [
    "| path | shows |",
    "|---|---|",
    "| `/mcp` | the default exposure (`exposure`), or one server as it is (`transparent`) |",
    ...rows,
    "| `/i/{instance}/mcp` | one instance, with a token of its own ([more](exposures/instance.md)) |",
  ].join("\n");
}
