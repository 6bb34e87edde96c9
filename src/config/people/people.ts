import type { PrincipalId } from "../../kernel/ids.ts";
import { localPrincipal } from "../../kernel/principal.ts";
import { pathText, refuse } from "../file/check.ts";
import type { People, Person, ServerConfig, ServerOverrides } from "../config.ts";
import type { Document, Path } from "../file/document.ts";
import { allowOverrides } from "./member-rules.ts";
import type { ReadSettings, WrittenSettings } from "../settings/settings.ts";
import { missingText } from "../file/substitution.ts";

type WrittenOverrides = NonNullable<NonNullable<WrittenSettings["teams"]>[string]["servers"]>;

/**
 * Teams and principals (docs/design.md, "People"). Throws GatewayError CONFIG_INVALID for a duplicate identifier and
 * for a token that belongs to two principals. Less serious mistakes (an unknown team or server, an override that a
 * member may not set) become warnings.
 */
export function buildPeople(
  read: ReadSettings,
  document: Document,
  servers: readonly ServerConfig[],
): { readonly people: People; readonly warnings: readonly string[] } {
  const warnings: string[] = [];
  const warn = (path: Path, why: string) => warnings.push(`${document.place(path)}: ${pathText(path)}: ${why}`);
  const overrides = (written: WrittenOverrides | undefined, path: Path) =>
    toOverrides(written ?? {}, { path, servers, read, warn });

  const writtenTeams = Object.entries(read.written.teams ?? {});
  const teams = new Map(
    writtenTeams.map(([team, { servers: own }]) => [team, overrides(own, ["toolyard", "teams", team])]),
  );
  const principals = new Map<string, Person>();
  for (const [id, person] of Object.entries(read.written.principals ?? {})) {
    const path = ["toolyard", "principals", id];
    if (id === "" || id === localPrincipal.id)
      refuse({ document, path }, `expected another identifier: ${JSON.stringify(id)} is not free`);
    if (person.team !== undefined && !teams.has(person.team))
      warn([...path, "team"], "no such team under toolyard.teams");
    principals.set(id, {
      id: id as PrincipalId,
      team: person.team ?? null,
      tokenHashes: [...(person.tokenHash === undefined ? [] : [person.tokenHash]), ...(person.tokenHashes ?? [])],
      roles: person.roles ?? ["member"],
      servers: overrides(person.servers, path),
    });
  }
  checkTokens(principals, read.written, document);
  return { people: { principals, teams }, warnings };
}

interface OverridesSource {
  /** Path of the team or principal. */
  readonly path: Path;
  readonly servers: readonly ServerConfig[];
  readonly read: ReadSettings;
  readonly warn: (path: Path, why: string) => void;
}

function toOverrides(
  written: WrittenOverrides,
  { path, servers, read, warn }: OverridesSource,
): ReadonlyMap<string, ServerOverrides> {
  const result = new Map<string, ServerOverrides>();
  for (const [name, given] of Object.entries(written)) {
    const here = [...path, "servers", name];
    const server = servers.find(({ key }) => key === name) ?? servers.find(({ slug }) => slug === name);
    if (!server) {
      warn(here, "no such server, ignored");
      continue;
    }
    const missing = read.missing.filter((entry) => startsWith(["toolyard", ...entry.path], here));
    for (const entry of missing) warn(["toolyard", ...entry.path], missingText([entry]) ?? "");
    const overrides = withoutMissing(
      given,
      missing.map((entry) => entry.path.slice(here.length - 1)),
    );
    for (const ignored of allowOverrides(server.transport, overrides).ignored)
      warn([...here, ...ignored.split(".", 1)], `${ignored} may not be overridden, ignored`);
    result.set(server.slug, overrides);
  }
  return result;
}

/** Removes values whose variable is not set, so that the text `${NAME}` itself never reaches a server. */
function withoutMissing(given: WrittenOverrides[string], missing: readonly Path[]): ServerOverrides {
  const paths = missing.map(([part, name]) => (part === "args" ? "args" : `${part}.${name}`));
  const keep = (part: "env" | "headers") =>
    Object.fromEntries(Object.entries(given[part] ?? {}).filter(([name]) => !paths.includes(`${part}.${name}`)));
  return {
    ...(given.args && !paths.includes("args") ? { args: given.args } : {}),
    ...(given.env ? { env: keep("env") } : {}),
    ...(given.headers ? { headers: keep("headers") } : {}),
    ...(paths.length > 0 ? { missing: paths } : {}),
  };
}

function startsWith(path: Path, start: Path): boolean {
  return start.every((step, index) => path[index] === step);
}

/** Makes sure that one token belongs to one principal. */
function checkTokens(principals: ReadonlyMap<string, Person>, written: WrittenSettings, document: Document): void {
  const owners = new Map<string, string>();
  for (const hash of [written.auth?.tokenHash, ...(written.auth?.tokenHashes ?? [])]) {
    if (hash !== undefined) owners.set(hash, "toolyard.auth");
  }
  for (const { id, tokenHashes } of principals.values()) {
    for (const hash of tokenHashes) {
      const owner = owners.get(hash);
      if (owner !== undefined && owner !== id)
        refuse({ document, path: ["toolyard", "principals", id] }, `its token is also that of ${owner}`);
      owners.set(hash, id);
    }
  }
}
