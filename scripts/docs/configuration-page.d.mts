/** The modules whose tables the page is made from. */
export type SettingsModule = typeof import("../../src/config/settings/settings-table.ts");
export type FieldsModule = typeof import("../../src/config/entry/server-fields.ts");

export function configurationPage(
  settings: Pick<SettingsModule, "settingsTable" | "foreignNamespaceRows">,
  fields: FieldsModule,
): string;
