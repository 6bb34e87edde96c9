// Where clients keep their files, in words for people: `home:.cursor/mcp.json` is ~/.cursor/mcp.json.
const folders = {
  home: "~/",
  config: "~/.config/",
  roaming: "%APPDATA%/",
  support: "~/Library/Application Support/",
  project: "",
};

/** @param {string} template a file of the table of clients */
export function fileText(template) {
  return template.replace(/^[a-z]+:/, (base) => folders[base.slice(0, -1)]);
}
