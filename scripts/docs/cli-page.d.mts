import type { SettingsModule } from "./configuration-page.d.mts";

type CommandsModule = typeof import("../../src/cli/commands.ts");

export function cliPage(commands: CommandsModule, settings: Pick<SettingsModule, "settingsTable">): string;
