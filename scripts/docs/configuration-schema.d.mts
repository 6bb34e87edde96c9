import type { FieldsModule, SettingsModule } from "./configuration-page.d.mts";

/** JSON Schema, draft 7: what editors know. */
export function configurationSchema(
  settings: Pick<SettingsModule, "toolyardRows" | "foreignNamespaceRows">,
  fields: FieldsModule,
): Readonly<Record<string, unknown>>;
