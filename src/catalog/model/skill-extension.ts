import { isJsonObject, type JsonObject } from "../../kernel/text/json-bytes.ts";
import type { InstanceCatalog } from "./snapshot.ts";

/** The extension that declares skills (SEP-2640, capability declaration). */
export const skillExtension = "io.modelcontextprotocol/skills";

/** Its settings where a peer declares it, undefined where it does not. */
export function skillSettings(capabilities: JsonObject): JsonObject | undefined {
  const { extensions } = capabilities;
  const settings = isJsonObject(extensions) ? extensions[skillExtension] : undefined;
  return isJsonObject(settings) ? settings : undefined;
}

/** Whether an instance answers skills/list and skills/get. */
export function offersSkills(catalog: InstanceCatalog | undefined): catalog is InstanceCatalog {
  return catalog !== undefined && skillSettings(catalog.capabilities) !== undefined;
}

/** Whether it answers resources/directory/read too. */
export function readsDirectories({ capabilities }: InstanceCatalog): boolean {
  return skillSettings(capabilities)?.["directoryRead"] === true;
}
