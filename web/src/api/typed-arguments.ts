/** Arguments typed for a tool, and those sent last, kept in this tab until their author logs out. */
const prefix = "toolyard-run ";
const sentPrefix = "toolyard-sent ";
const mostSent = 5;

export function typedArguments(tool: string): string | undefined {
  return sessionStorage.getItem(prefix + tool) ?? undefined;
}

/** A text too long for the browser is not kept, but stays in the form. */
export function keepArguments(tool: string, text: string): void {
  keep(prefix + tool, text);
}

/** Those sent from this tab, the newest first, each once. */
export function sentArguments(tool: string): readonly string[] {
  return JSON.parse(sessionStorage.getItem(sentPrefix + tool) ?? "[]") as readonly string[];
}

export function keepSent(tool: string, text: string): void {
  const others = sentArguments(tool).filter((one) => one !== text);
  keep(sentPrefix + tool, JSON.stringify([text, ...others].slice(0, mostSent)));
}

function keep(name: string, text: string): void {
  try {
    sessionStorage.setItem(name, text);
  } catch {
    sessionStorage.removeItem(name);
  }
}

/** They may hold secrets, and the next person at this tab is somebody else. */
export function forgetArguments(): void {
  for (const name of Object.keys(sessionStorage))
    if (name.startsWith(prefix) || name.startsWith(sentPrefix)) sessionStorage.removeItem(name);
}
