// Rules of our own for oxlint, as one plugin.
import { downwards } from "./house-rule.mjs";
import { lineLength } from "./line-length-rule.mjs";
import { plainText } from "./plain-words-rule.mjs";

/** The names of the rules in the configuration and in reports. */
export const ownRules = {
  lineLength: "house/line-length",
  downwards: "house/downwards",
  plainText: "house/plain-text",
};

// oxlint asks for a default export.
export default {
  meta: { name: "house" },
  rules: { "line-length": lineLength, downwards, "plain-text": plainText },
};
