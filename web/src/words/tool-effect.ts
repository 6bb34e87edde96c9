/** A server's description of its tool's effects: hints that were not checked. */
interface Annotations {
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
}

/** What a tool may do, in a few words. Without a word of its server it may do anything, as MCP has it. */
export function effectOf(annotations: unknown): "only reads" | "changes something" | "may change or remove something" {
  const { readOnlyHint, destructiveHint } = (annotations ?? {}) as Annotations;
  if (readOnlyHint === true) return "only reads";
  return destructiveHint === false ? "changes something" : "may change or remove something";
}
