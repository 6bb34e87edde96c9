import { matchesPattern } from "../../../src/config/words/slug.ts";
import type { Schemas } from "../api/client.ts";

type Rule = Schemas["ToolRule"];

/** A tool, by the name that its server has for it. */
interface Named {
  readonly server: string;
  readonly upstream_name: string;
}

/** What the configuration says of a tool that is offered: `renamed, described`. Empty where it says nothing. */
export function ruleText(rules: readonly Rule[], { server, upstream_name: name }: Named): string {
  const own = rules.filter((rule) => rule.server === server && matchesPattern(rule.tool, name));
  const said = [
    ["allowed", own.some(({ access }) => access === "allow")],
    ["renamed", own.some((rule) => rule.name !== null)],
    ["described", own.some(({ description }) => description !== null)],
    ["phrases", own.some(({ phrases }) => phrases !== null)],
  ] as const;
  return said.flatMap(([word, isSo]) => (isSo ? [word] : [])).join(", ");
}
