// The part of the search that is loaded when someone first searches; the build appends the index.
import MiniSearch from "minisearch";
import { indexOptions, queryOptions } from "./search-options.mjs";

const mostResults = 12;

/**
 * @param {string} index as the build has serialised it
 * @returns a function from a query to the best sections
 */
export function openIndex(index) {
  const sections = MiniSearch.loadJSON(index, indexOptions);
  return (query) => {
    const found = sections.search(query, queryOptions);
    const some = found.length > 0 ? found : sections.search(query, { ...queryOptions, combineWith: "OR" });
    return some.slice(0, mostResults);
  };
}
