/** The modules whose tables the page is made from. */
export type SettingsModule = typeof import("../../src/config/settings-table.ts");
export type FieldsModule = typeof import("../../src/config/server-fields.ts");

export function configurationPage(
  settings: Pick<SettingsModule, "settingsTable" | "foreignNamespaceRows">,
  fields: FieldsModule,
): string;
