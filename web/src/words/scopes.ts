/** What tokens and apps may be limited to, as people say it. */
const words: Readonly<Record<string, string>> = {
  "mcp:read": "find tools and read resources",
  "mcp:tools:execute": "call tools",
  "mcp:approve": "say yes to calls of others",
};

export function scopeWord(scope: string): string {
  return words[scope] ?? scope;
}
