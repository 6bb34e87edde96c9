// What the cells of tables that are made from other things have in them.

/**
 * A table's cell ends at a bar; Markdown takes `<` for markup and brackets for links.
 * @param {string} text
 * @returns {string}
 */
export const cell = (text) =>
  text.replaceAll("|", "\\|").replaceAll("<", "&lt;").replaceAll("[", "\\[").replaceAll("]", "\\]");

/**
 * The same for a text that has code and links of its own.
 * @param {string} text
 * @returns {string}
 */
export const markedCell = (text) => text.replaceAll("|", "\\|").replaceAll("\n", " ");

/**
 * A test's title, linked to its file from a page in docs/.
 * @param {{ file: string, title: string }} test
 * @returns {string}
 */
export const link = ({ file, title }) => `[${cell(title)}](../${file})`;
