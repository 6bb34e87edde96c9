/** Arguments typed for a tool, kept in this tab until their author logs out. */
const prefix = "toolyard-run ";

export function typedArguments(tool: string): string | undefined {
  return sessionStorage.getItem(prefix + tool) ?? undefined;
}

/** A text too long for the browser is not kept, but stays in the form. */
export function keepArguments(tool: string, text: string): void {
  try {
    sessionStorage.setItem(prefix + tool, text);
  } catch {
    sessionStorage.removeItem(prefix + tool);
  }
}

/** They may hold secrets, and the next person at this tab is somebody else. */
export function forgetArguments(): void {
  for (const name of Object.keys(sessionStorage)) if (name.startsWith(prefix)) sessionStorage.removeItem(name);
}
