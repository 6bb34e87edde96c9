/** Arguments that somebody typed for a tool, kept in this tab until whoever typed them logs out. */
const prefix = "toolyard-run ";

export function typedArguments(tool: string): string | undefined {
  return sessionStorage.getItem(prefix + tool) ?? undefined;
}

/** What is too long for the browser is not kept: it stands in the form all the same. */
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
