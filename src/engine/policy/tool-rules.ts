import type { ToolRules } from "../../config/config.ts";
import { matchesPattern } from "../../config/words/tool-pattern.ts";
import type { Principal } from "../../kernel/principal.ts";

/** What the decision is about. */
export interface PolicySubject {
  readonly rules: Pick<ToolRules, "allow" | "within" | "deny">;
  /** The server's own name of the tool, so that renaming a tool does not lift a rule. */
  readonly tool: string;
}

/**
 * Whether a principal may see and call a tool. One pure function, used by views and by the policy stage, so that a
 * hidden tool cannot be called either. Deny takes precedence over allow. Without an allow list, every tool is allowed.
 */
export function mayUse(_principal: Principal, subject: PolicySubject): boolean {
  const { rules, tool } = subject;
  if (rules.deny.some((pattern) => matchesPattern(pattern, tool))) return false;
  if (rules.within?.every((list) => isListed(list, tool)) === false) return false;
  return rules.allow === undefined || isListed(rules.allow, tool);
}

function isListed(patterns: readonly string[], tool: string): boolean {
  return patterns.some((pattern) => matchesPattern(pattern, tool));
}
