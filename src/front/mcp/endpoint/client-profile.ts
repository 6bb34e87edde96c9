import { findClientProfile, type ClientProfile, type ClientProfiles } from "../../../config/rows/client-profiles.ts";
import { isJsonObject, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import type { Caller } from "../caller.ts";
import { offersSkills, readsDirectories, skillExtension } from "../../../catalog/model/skill-extension.ts";
import type { View, ViewServer } from "../../../catalog/model/view.ts";
import type { Exposure } from "../../../catalog/exposure/exposure.ts";

/** The profile of a client by what it calls itself (`clientInfo`); undefined for all that need none. */
export type ProfileOf = (clientInfo: unknown) => ClientProfile | undefined;

export function createProfileOf(profiles: () => ClientProfiles): ProfileOf {
  return (clientInfo) => {
    const name = isJsonObject(clientInfo) ? clientInfo["name"] : undefined;
    return typeof name === "string" ? findClientProfile(profiles(), name) : undefined;
  };
}

/**
 * Modern clients name themselves in each request, legacy ones when they initialize; without a session the client is
 * unknown.
 */
export function clientProfileOf({ client, session }: Caller, profileOf: ProfileOf): ClientProfile | undefined {
  return client.era === "legacy" ? session?.client : profileOf(client.info);
}

/**
 * What an endpoint declares. A transparent one declares what its server does; the others what the gateway can do for
 * any server, and what passes through it to one that does (extensions, tasks).
 */
export function capabilitiesOf(exposure: Exposure, view: View): JsonObject {
  const own = exposure.transparent(view)?.catalog?.capabilities;
  if (own !== undefined && isJsonObject(own)) return own;
  const servers = view.servers.flatMap(({ catalog }) => (catalog === undefined ? [] : [catalog.capabilities]));
  const extensions = servers
    .map((declared) => declared["extensions"])
    .filter(isJsonObject)
    .map(withoutSkills);
  return {
    tools: exposure.toolsChange ? { listChanged: true } : {},
    resources: { subscribe: true, listChanged: true },
    prompts: { listChanged: true },
    completions: {},
    logging: {},
    ...(extensions.length === 0
      ? {}
      : { extensions: Object.assign({}, ...extensions, skillExtensions(view.servers)) as JsonObject }),
    ...(servers.some((declared) => isJsonObject(declared["tasks"])) ? { tasks: taskCapabilities } : {}),
  };
}

/** Tasks of several servers cannot be listed together: only what names a task finds its server. */
const taskCapabilities: JsonObject = Object.freeze({ cancel: {}, requests: { tools: { call: {} } } });

function withoutSkills({ [skillExtension]: _skills, ...others }: JsonObject): JsonObject {
  return others;
}

/**
 * Declaring skills means answering `skills/list` and `skills/get` (SEP-2640), which the gateway does when one of the
 * servers can. Directories are read by the servers that have skills, so that all of these have to support it.
 */
function skillExtensions(servers: readonly ViewServer[]): JsonObject {
  const offering = servers.flatMap(({ catalog }) => (offersSkills(catalog) ? [catalog] : []));
  if (offering.length === 0) return {};
  return { [skillExtension]: offering.every(readsDirectories) ? { directoryRead: true } : {} };
}
