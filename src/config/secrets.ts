import type { Config, ServerOverrides, Transport } from "./config.ts";
import { hasProcess } from "./transports.ts";

/** Shorter values ("true", "1", "info") would black out half of a log and hide nothing. */
const shortestSecret = 6;

/**
 * Of a secret of several lines each is one, because servers write lines; its brackets and the frame of a PEM are
 * none.
 */
const shortestLine = 8;

/**
 * What must never be shown: every value that a variable brought in, every value under `headers` and `apiKey`, every
 * one under `env` but plain words and numbers, a credential without its scheme (`Bearer x` also as `x`), the lines of
 * a value that has several, and what a URL carries in its user part or in parameters that are called like secrets.
 * Values below six characters are left out. Literal arguments are not known to be secret.
 */
export function secretsOf(config: Config): ReadonlySet<string> {
  const secrets = new Set<string>();
  const add = (value: string | undefined) => {
    for (const part of [value, value?.replace(/^(Bearer|Basic|Token|ApiKey)\s+/i, "")]) {
      if (part === undefined || part.length < shortestSecret || isReference(part)) continue;
      secrets.add(part);
      linesOf(part).forEach((line) => secrets.add(line));
    }
  };
  for (const value of config.secrets ?? []) add(value);
  for (const server of config.servers) transportSecrets(server.transport).forEach(add);
  for (const servers of [
    ...config.people.teams.values(),
    ...[...config.people.principals.values()].map((person) => person.servers),
  ]) {
    for (const overrides of servers.values()) overrideSecrets(overrides).forEach(add);
  }
  const { embeddings } = config.settings.search;
  add(embeddings?.apiKey);
  if (embeddings) urlSecrets(embeddings.url).forEach(add);
  return secrets;
}

/** A variable that nobody filled in is a name, which the reason why its server is disabled has to show. */
function isReference(value: string): boolean {
  return /^\$\{((env:)?[A-Za-z_][\w.-]*|input:[^{}:]*)\}$/.test(value);
}

function linesOf(value: string): string[] {
  const lines = value.split(/[\r\n]+/).map((line) => line.trim());
  return lines.length < 2 ? [] : lines.filter((line) => line.length >= shortestLine && !line.startsWith("-----"));
}

/**
 * Values like `online` and `300000` would black out the log's own words; where the name speaks of a secret, nothing
 * is plain.
 */
function environmentSecrets(env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env).flatMap(([name, value]) => (isPlain(value) && !speaksOfSecrets(name) ? [] : [value]));
}

/** One word as people write it, or a number. */
function isPlain(value: string): boolean {
  return /^([a-z]{1,12}|[A-Z]{1,12}|[A-Z][a-z]{1,11}|\d{1,8})$/.test(value);
}

/** Rather too many: what is taken for a secret by mistake is only missing in the log. */
function speaksOfSecrets(name: string): boolean {
  return /key|token|secret|pass|pwd|pw$|phrase|auth|sig|cred|cookie|session|private|pin|code|salt|seed|hash|licen[cs]e|hook|jwt|bearer|login|user|account/i.test(
    name,
  );
}

function transportSecrets(transport: Transport): string[] {
  if (hasProcess(transport)) return environmentSecrets(transport.env);
  const proxy = typeof transport.proxy === "string" ? urlSecrets(transport.proxy) : [];
  const passphrase = transport.tls?.passphrase === undefined ? [] : [transport.tls.passphrase];
  return [...Object.values(transport.headers), ...urlSecrets(transport.url), ...proxy, ...passphrase];
}

function overrideSecrets(overrides: ServerOverrides): string[] {
  return [...environmentSecrets(overrides.env ?? {}), ...Object.values(overrides.headers ?? {})];
}

function urlSecrets(text: string): string[] {
  if (!URL.canParse(text)) return [];
  const url = new URL(text);
  const parameters = [...url.searchParams].filter(([name]) => /key|token|secret|passw|auth|sig|credential/i.test(name));
  return [
    url.password,
    decoded(url.password),
    ...parameters.flatMap(([, value]) => [value, encodeURIComponent(value)]),
  ];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
