import type { Config, HttpTransport, ServerConfig } from "../../../config/config.ts";
import { canLogIn } from "../../../config/entry/transports.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { InstanceId, PrincipalId } from "../../../kernel/ids.ts";
import { localPrincipal } from "../../../kernel/principal.ts";
import { createConfigDirectory } from "../../../people/directory/config-directory.ts";
import { wantedFor } from "../../../servers/instance/fleet/desired-instances.ts";

/** A server of the configuration, by its name there or in the gateway. Throws SERVER_UNKNOWN. */
export function findConfigured({ servers, file }: Config, name: string): ServerConfig {
  const server = servers.find(({ key, slug }) => key === name || slug === name);
  if (server !== undefined) return server;
  throw new GatewayError(
    "SERVER_UNKNOWN",
    `there is no server ${JSON.stringify(name)} in ${file ?? "the configuration"}`,
    {
      hint: `There are: ${servers.map(({ key }) => key).join(", ") || "none"}.`,
    },
  );
}

/** Where somebody logs in: a server as one person has it, or all share it. */
export interface LoginTarget {
  readonly server: ServerConfig & { readonly transport: HttpTransport };
  readonly instance: InstanceId;
}

/** The instance that somebody logs in at. Throws CONFIG_INVALID where there is none. */
export function findLoginTarget(config: Config, name: string, person: string | undefined): LoginTarget {
  const { servers, people } = config;
  const template = servers.find(({ key, slug }) => key === name || slug === name);
  if (template === undefined)
    throw wrong(
      `there is no server ${JSON.stringify(name)}`,
      `There are: ${servers.map(({ slug }) => slug).join(", ") || "none"}.`,
    );
  const owner = ownerOf(config, template, person);
  const wanted = wantedFor({ id: undefined, owner, server: template }, servers, createConfigDirectory(config));
  if (wanted === undefined)
    throw wrong(
      `no one is called ${JSON.stringify(person)} in the configuration`,
      `There are: ${[...people.principals.keys()].slice(0, 20).join(", ") || "none"}.`,
    );
  const { transport } = wanted.server;
  if (!canLogIn(transport))
    throw wrong(
      `${template.slug} is a command on this machine: it needs no login`,
      "Servers at an address take logins.",
    );
  if (Object.keys(transport.headers).some((header) => header.toLowerCase() === "authorization"))
    throw wrong(
      `${template.slug} has an Authorization header in the configuration, which goes before any login`,
      "Take it out of its entry first.",
    );
  return { server: { ...wanted.server, transport }, instance: wanted.id };
}

/** The owner of the login: none for a shared server, otherwise one person. */
function ownerOf(config: Config, { scope, slug }: ServerConfig, person: string | undefined): PrincipalId | null {
  if (scope === "shared") {
    if (person === undefined) return null;
    throw wrong(`${slug} is shared by everybody`, "Log in without --principal.");
  }
  const people = [...config.people.principals.keys()];
  if (person === undefined && people.length > 0 && config.settings.auth.tokenHashes.length === 0)
    throw wrong("say who logs in", `Write \`toolyard login ${slug} --principal ${people.slice(0, 10).join(" | ")}\`.`);
  return (person ?? localPrincipal.id) as PrincipalId;
}

function wrong(message: string, hint: string): GatewayError {
  return new GatewayError("CONFIG_INVALID", message, { hint });
}
