/** Light or dark, as the system has it or as somebody chose in this browser. */
export type Theme = "system" | "light" | "dark";

const name = "toolyard-theme";
const listeners = new Set<() => void>();

function read(): Theme {
  const kept = localStorage.getItem(name);
  return kept === "light" || kept === "dark" ? kept : "system";
}

/** The style sheet has a `color-scheme` for each; colours, fields and scroll bars follow it. */
function apply(): void {
  document.documentElement.dataset["theme"] = read();
}

export const themeStore = {
  get: read,
  subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
  set(theme: Theme): void {
    if (theme === "system") localStorage.removeItem(name);
    else localStorage.setItem(name, theme);
    apply();
    for (const listener of listeners) listener();
  },
};

/** Before the first paint; and whenever another tab chooses, or the system changes. */
export function startTheme(): void {
  const changed = (): void => {
    apply();
    for (const listener of listeners) listener();
  };
  apply();
  addEventListener("storage", ({ key }) => key === name && changed());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
}
