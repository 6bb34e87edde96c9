// What stands in the cells of the tables that are made from tests' titles.

/**
 * A table's cell ends at a bar; Markdown takes `<` for markup and brackets for links.
 * @param {string} text
 * @returns {string}
 */
export const cell = (text) =>
  text.replaceAll("|", "\\|").replaceAll("<", "&lt;").replaceAll("[", "\\[").replaceAll("]", "\\]");

/**
 * A test's title, linked to its file from a page in docs/.
 * @param {{ file: string, title: string }} test
 * @returns {string}
 */
export const link = ({ file, title }) => `[${cell(title)}](../${file})`;
