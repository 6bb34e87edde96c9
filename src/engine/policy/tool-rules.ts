import type { ToolRules } from "../../config/config.ts";
import { matchesPattern } from "../../config/words/tool-pattern.ts";

/** What the decision is about. */
export interface PolicySubject {
  readonly rules: Pick<ToolRules, "allow" | "within" | "deny">;
  /** The server's own name of the tool, so that renaming a tool does not lift a rule. */
  readonly tool: string;
}

/**
 * Whether the lists of an entry offer a tool; rules of the policy may still deny it (`isOffered`). Deny takes
 * precedence over allow. Without an allow list, every tool is allowed.
 */
export function mayUse(subject: PolicySubject): boolean {
  const { rules, tool } = subject;
  if (rules.deny.some((pattern) => matchesPattern(pattern, tool))) return false;
  if (rules.within?.every((list) => isListed(list, tool)) === false) return false;
  return rules.allow === undefined || isListed(rules.allow, tool);
}

function isListed(patterns: readonly string[], tool: string): boolean {
  return patterns.some((pattern) => matchesPattern(pattern, tool));
}
