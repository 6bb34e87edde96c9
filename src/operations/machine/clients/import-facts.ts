import { dirname } from "node:path";
import type { ImportedEntry } from "../../../config/clients/connect/client-entry.ts";
import { planImport, type ImportPlan, type PlannedServer } from "../../../config/clients/import/import-plan.ts";
import { findLiteralSecrets, schemeOf } from "../../../config/clients/import/literal-secrets.ts";
import type { FoundClient } from "../../../config/clients/import/read-clients.ts";
import { redacted } from "../../../config/words/spans.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { plainText } from "../../../kernel/text/plain-text.ts";
import { keepValues, readKeptValues, type Surroundings } from "../surroundings/surroundings.ts";
import { findClients } from "./client-lines.ts";
import { readTarget, withServers, writeTarget, type ImportTarget } from "./import-target.ts";

/** What becomes of secrets that stand in clients' files. */
export type SecretWay = "keep" | "variables";

/** The file that was written, and the copy of what it was. */
export interface ImportWritten {
  readonly file: string;
  readonly backup: string | null;
}

/** The servers in the files of these clients, compared with those of the configuration. */
export async function planFor(
  place: Surroundings,
  { present, sandboxMode, file }: ImportTarget,
  found: readonly FoundClient[],
): Promise<ImportPlan> {
  const env = { ...(await readKeptValues(place)), ...place.env };
  return planImport(found, { present, sandboxMode, env, directory: dirname(file) });
}

/** Those that the configuration does not have; of these the named ones. Throws CONFIG_INVALID for names of others. */
export function freshServers(plan: ImportPlan, names: readonly string[]): readonly PlannedServer[] {
  const fresh = plan.servers.filter(({ presentAs }) => presentAs === undefined);
  const unknown = names.find((name) => !fresh.some(({ key }) => key === name));
  if (unknown !== undefined)
    throw new GatewayError("CONFIG_INVALID", `--only: no new server ${JSON.stringify(unknown)} was found`, {
      hint: `There are: ${fresh.map(({ key }) => key).join(", ") || "none"}.`,
    });
  return names.length === 0 ? fresh : fresh.filter(({ key }) => names.includes(key));
}

/**
 * Without questions: the preselected servers, and the named ones. A server that is switched off is taken over as it is.
 */
export function chosenUnasked(fresh: readonly PlannedServer[], named: readonly string[]): readonly PlannedServer[] {
  return fresh.filter(
    ({ key, isPreselected, literal }) => isPreselected || literal.enabled === false || named.includes(key),
  );
}

/** The text of the configuration with these servers. */
export function textWith(target: ImportTarget, servers: readonly PlannedServer[], secrets: SecretWay): string {
  return withServers(
    target,
    servers.map((server) => [server.key, writtenEntry(server, secrets)] as const),
  );
}

/** What becomes of a server in the configuration. */
export function writtenEntry({ entry, literal }: PlannedServer, secrets: SecretWay): ImportedEntry {
  return secrets === "variables" ? entry : literal;
}

/** The values of the variables that are written in place of secrets, to be kept; without those that are set. */
export function secretValues({ servers, secrets }: ChosenImport): Readonly<Record<string, string>> {
  if (secrets === "keep") return {};
  return Object.fromEntries(
    servers.flatMap((server) => {
      const values = findLiteralSecrets(server.literal, server.key);
      return server.secrets.flatMap(({ variable, isSet }, at) => (isSet ? [] : [[variable, values[at]?.value ?? ""]]));
    }),
  );
}

/** Servers that are taken over, and how their secrets are written. */
export interface ChosenImport {
  readonly servers: readonly PlannedServer[];
  readonly secrets: SecretWay;
}

/** Keeps the secrets that variables take the place of, and writes the servers. Resolves to the copy of the file. */
export async function writeImport(
  place: Surroundings,
  target: ImportTarget,
  chosen: ChosenImport,
): Promise<string | undefined> {
  const values = secretValues(chosen);
  if (Object.keys(values).length > 0) await keepValues(place, values);
  return await writeTarget(place, target, textWith(target, chosen.servers, chosen.secrets));
}

/** What to take over without questions. */
export interface ImportAsk {
  readonly only: readonly string[];
  readonly secrets: SecretWay;
  /** Whether it is written, and not only shown. */
  readonly isApplied: boolean;
}

/** The plan for programs, and what became of it. */
export type ImportFacts = ReturnType<typeof planJson> & {
  readonly config: string;
  readonly written: ImportWritten | null;
};

/** Takes over the servers of AI clients, without questions. */
export async function importUnasked(
  place: Surroundings,
  { only, secrets, isApplied }: ImportAsk,
): Promise<ImportFacts> {
  const target = await readTarget(place);
  const plan = await planFor(place, target, await findClients(place));
  const chosen = chosenUnasked(freshServers(plan, only), only);
  const { file } = target;
  const facts = { config: file, ...planJson(plan) };
  if (chosen.length === 0 || !isApplied) return { ...facts, written: null };
  const backup = await writeImport(place, target, { servers: chosen, secrets });
  return { ...facts, written: { file, backup: backup ?? null } };
}

/** The command with all its arguments, or the address, as a shell would take it, without secrets. */
export function commandText(server: PlannedServer): string {
  const { command, args = [], url, cwd } = server.literal;
  const hide = hiding(server);
  if (command === undefined) return plainText(hide(url ?? ""));
  const words = [command, ...args].map((word) => quoted(hide(word))).join(" ");
  return plainText(cwd === undefined ? words : `${words}  (in ${cwd})`);
}

function quoted(word: string): string {
  return /^[\w@%+=:,./\\${}~^[\]-]+$/.test(word) ? word : JSON.stringify(word);
}

/** Takes the secrets of a server's entry out of a text. */
function hiding(server: PlannedServer): (text: string) => string {
  const values = secretTexts(server);
  return (text) => values.reduce((hidden, value) => hidden.replaceAll(value, redacted), text);
}

/** Each secret, and without the `Bearer ` before it: it may be in another place alone. */
function secretTexts(server: PlannedServer): readonly string[] {
  return findLiteralSecrets(server.literal, server.key).flatMap(({ value }) => [
    ...new Set([value, value.slice(schemeOf(value).length)]),
  ]);
}

/** The plan for programs. No secret is in it. */
export function planJson(plan: ImportPlan) {
  return {
    servers: plan.servers.map((server) => ({
      name: server.key,
      command: commandText(server),
      isRemote: server.literal.url !== undefined,
      enabled: server.literal.enabled !== false,
      seen: server.seen,
      configuredAs: server.presentAs ?? null,
      marks: server.marks,
      preselected: server.isPreselected,
      secrets: server.secrets,
      tools: server.literal.tools ?? null,
      missing: server.missing,
      notes: server.notes,
    })),
    gateways: plan.gateways,
    problems: plan.problems,
  };
}

/** Takes the secrets of all these servers out of lines, also as JSON writes them. */
export function hideSecrets(lines: readonly string[], servers: readonly PlannedServer[]): readonly string[] {
  const values = servers.flatMap(secretTexts);
  const written = values.map((value) => JSON.stringify(value).slice(1, -1));
  return lines.map((line) => written.reduce((hidden, value) => hidden.replaceAll(value, redacted), line));
}
