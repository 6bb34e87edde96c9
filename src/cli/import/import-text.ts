import type { ImportedEntry } from "../../config/clients/connect/client-entry.ts";
import type { ImportPlan, PlannedServer, Sighting } from "../../config/clients/import/import-plan.ts";
import { commandText, type ChosenImport, type SecretWay } from "../../operations/machine/clients/import-facts.ts";
import { plainText } from "../../kernel/text/plain-text.ts";

/** What was found, for people. Every command is shown in full; no secret is. */
export function planLines(plan: ImportPlan, secrets: SecretWay | undefined): readonly string[] {
  const fresh = plan.servers.filter(({ presentAs }) => presentAs === undefined);
  const known = plan.servers.filter(({ presentAs }) => presentAs !== undefined);
  const width = Math.max(0, ...fresh.map(({ key }) => plainText(key).length));
  return [
    summary(plan),
    "",
    ...fresh.flatMap((server) => serverLines(server, width, secrets)),
    ...known.map((server) => `= ${plainText(server.key)} is configured already (${places(server.seen)})`),
    ...plan.gateways.map(
      ({ gateway, isOurs, ...seen }) =>
        `- ${plainText(seen.name)} in ${seen.client} leads to ${isOurs ? "this gateway" : `${gateway}, whose servers are in its own configuration`}`,
    ),
    ...plan.problems.map((problem) => `! ${plainText(problem)}`),
  ];
}

function summary({ servers, gateways }: ImportPlan): string {
  const clients = new Set([...servers.flatMap(({ seen }) => seen), ...gateways].map(({ client }) => client));
  const twice = servers.filter(({ seen }) => seen.length > 1).length;
  const more = twice === 0 ? "" : ` (${twice} found more than once)`;
  return `Found ${amount(servers.length, "server")}${more} in ${amount(clients.size, "client")}. Nothing is started before you say so.`;
}

function amount(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

export function serverLines(server: PlannedServer, width: number, secrets: SecretWay | undefined): readonly string[] {
  const indent = " ".repeat(width + 4);
  const off = server.literal.enabled === false ? ["switched off, and stays off"] : [];
  const facts = [
    ...(server.seen.every(({ name }) => name === server.key) ? [] : [`called ${names(server)} there`]),
    ...server.marks.map((mark) => `! ${mark}`),
    ...off,
    ...toolFacts(server.literal),
    ...server.secrets.map((secret) => `${secret.where}: ${secretFact(secret, secrets)}`),
    ...(server.missing.length > 0 ? [`needs ${server.missing.join(", ")}, which you have to set`] : []),
    ...server.notes,
  ];
  const from = server.seen.length === 0 ? "" : `  (from ${places(server.seen)})`;
  return [
    `+ ${plainText(server.key).padEnd(width)}  ${commandText(server)}${from}`,
    ...facts.map((fact) => `${indent}${plainText(fact)}`),
  ];
}

function secretFact({ variable, isSet }: PlannedServer["secrets"][number], way: SecretWay | undefined): string {
  if (way === "keep") return "a secret, kept as it is";
  const set = isSet ? ", which is set" : ", whose value is kept encrypted";
  return way === "variables" ? `a secret, written as \${${variable}}${set}` : `a secret, could be \${${variable}}`;
}

function toolFacts({ tools }: ImportedEntry): readonly string[] {
  return [
    ...(tools?.allow === undefined ? [] : [`only these tools: ${tools.allow.join(", ") || "none"}`]),
    ...(tools?.deny === undefined ? [] : [`without these tools: ${tools.deny.join(", ")}`]),
  ];
}

function places(seen: readonly Sighting[]): string {
  return [...new Set(seen.map(({ client }) => client))].join(", ");
}

function names({ seen }: PlannedServer): string {
  return [...new Set(seen.map(({ name }) => name))].join(", ");
}

/**
 * Asks on the terminal which servers are taken over, and how their secrets are written. A server that runs a shell or
 * unknown code has to be chosen by hand.
 */
export async function askWhatToImport(
  servers: readonly PlannedServer[],
  given: SecretWay | undefined,
): Promise<ChosenImport | undefined> {
  const { isCancel, multiselect, select } = await import("@clack/prompts");
  const chosen = await multiselect({
    message: "Which of them? (space changes, enter goes on)",
    // Their commands were shown in full before this question.
    options: servers.map(({ key, marks }) => {
      return { value: key, label: plainText(key), ...(marks.length === 0 ? {} : { hint: marks.join(", ") }) };
    }),
    initialValues: servers.filter((server) => server.isPreselected).map(({ key }) => key),
    required: false,
  });
  if (isCancel(chosen)) return undefined;
  const taken = servers.filter(({ key }) => chosen.includes(key));
  if (given !== undefined || !taken.some(({ secrets }) => secrets.length > 0))
    return { servers: taken, secrets: given ?? "keep" };
  const way = await select<SecretWay>({
    message: "Secrets stand in their entries. How should they be written?",
    options: [
      { value: "keep", label: "as they are", hint: "works at once; only you can read a new file" },
      { value: "variables", label: "as variables", hint: "their values are kept encrypted" },
    ],
  });
  return isCancel(way) ? undefined : { servers: taken, secrets: way };
}

/** Asks whether the change that was shown is made. */
export async function askWhetherToWrite(file: string): Promise<boolean> {
  const { confirm, isCancel } = await import("@clack/prompts");
  const answer = await confirm({ message: `Write this to ${file}?` });
  return !isCancel(answer) && answer;
}
