import { Monitor, Moon, Sun } from "lucide-react";
import { useSyncExternalStore } from "react";
import { themeStore, type Theme } from "../../theme.ts";

const themes = [
  ["system", "Theme of the system", Monitor],
  ["light", "Light theme", Sun],
  ["dark", "Dark theme", Moon],
] as const;

/** Three signs in a row: the pressed one is in force, and stays so in this browser. */
export function ThemeSwitch() {
  const chosen = useSyncExternalStore<Theme>(themeStore.subscribe, themeStore.get);
  return (
    <div role="group" aria-label="Theme" className="themes">
      {themes.map(([theme, label, Icon]) => (
        <button
          key={theme}
          type="button"
          aria-label={label}
          title={label}
          aria-pressed={theme === chosen}
          onClick={() => themeStore.set(theme)}
        >
          <Icon aria-hidden size={14} />
        </button>
      ))}
    </div>
  );
}
