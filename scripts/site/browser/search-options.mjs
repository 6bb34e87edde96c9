/** How the index is made when the site is built, and read in the browser. */
export const indexOptions = {
  fields: ["heading", "title", "text"],
  storeFields: ["href", "heading", "title", "begin"],
};

/** Every word has to be found; a word may go on, and a long one may be misspelt. */
export const queryOptions = {
  boost: { heading: 4, title: 2 },
  prefix: (term) => term.length > 1,
  fuzzy: (term) => (term.length > 4 ? 0.2 : false),
  combineWith: "AND",
};
