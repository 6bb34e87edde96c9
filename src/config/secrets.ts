import type { Config, ServerOverrides, Transport } from "./config.ts";
import { addressesOf, hasProcess } from "./entry/transports.ts";

/** Hiding shorter values ("true", "1", "info") would black out half of a log and protect nothing. */
const shortestSecret = 6;

/**
 * Servers write lines, so that each line of a secret with several is hidden by itself. Brackets and the frame of a
 * PEM file are shorter than this or no secret.
 */
const shortestLine = 8;

/**
 * The secrets of the configuration as it is now ({@link secretsOf}): made once per configuration, because a server may
 * write a thousand lines a second.
 */
export function createConfigSecrets(config: () => Config): () => ReadonlySet<string> {
  let known: { readonly config: Config; readonly secrets: ReadonlySet<string> } | undefined;
  return () => {
    const current = config();
    if (known?.config !== current) known = { config: current, secrets: secretsOf(current) };
    return known.secrets;
  };
}

/**
 * Texts that must never be shown: every value that came from a variable; every value under `headers` and `apiKey`;
 * every value under `env` except plain words and numbers; a credential without its scheme (of `Bearer x` also `x`);
 * the lines of a value that has several; and, in a URL, the user part and parameters whose names suggest secrets.
 * Values below six characters are left out. Literal arguments are not known to be secret.
 */
function secretsOf(config: Config): ReadonlySet<string> {
  const secrets = new Set<string>();
  const add = (value: string | undefined) => textsToHide(value).forEach((text) => secrets.add(text));
  for (const value of config.secrets ?? []) add(value);
  for (const server of config.servers) transportSecrets(server.transport).forEach(add);
  for (const servers of [
    ...config.people.teams.values(),
    ...[...config.people.principals.values()].map((person) => person.servers),
  ]) {
    for (const overrides of servers.values()) overrideSecrets(overrides).forEach(add);
  }
  add(config.settings.auth.external?.introspection?.clientSecret);
  const { embeddings, enrich } = config.settings.search;
  for (const endpoint of [embeddings, enrich]) {
    add(endpoint?.apiKey);
    if (endpoint?.url !== undefined) urlSecrets(endpoint.url).forEach(add);
  }
  const { database } = config.settings;
  if (database !== undefined) [database, ...urlSecrets(database)].forEach(add);
  for (const { clientSecret } of Object.values(config.settings.auth.providers)) add(clientSecret);
  for (const { secret, url } of config.settings.events.webhooks) {
    add(secret);
    urlSecrets(url).forEach(add);
  }
  return secrets;
}

/** What of a secret value has to be hidden: as it is, without its scheme, and each of its lines. */
export function textsToHide(value: string | undefined): readonly string[] {
  return [value, value?.replace(/^(Bearer|Basic|Token|ApiKey)\s+/i, "")].flatMap((part) =>
    part === undefined || part.length < shortestSecret || isReference(part) ? [] : [part, ...linesOf(part)],
  );
}

/** A reference to a variable that is not set is a name, which the message about the disabled server must show. */
function isReference(value: string): boolean {
  return /^\$\{((env:)?[A-Za-z_][\w.-]*|input:[^{}:]*)\}$/.test(value);
}

function linesOf(value: string): string[] {
  const lines = value.split(/[\r\n]+/).map((line) => line.trim());
  return lines.length < 2 ? [] : lines.filter((line) => line.length >= shortestLine && !line.startsWith("-----"));
}

/**
 * Hiding values like `online` and `300000` would black out the log's own words. Where the name suggests a secret,
 * even those are hidden.
 */
export function environmentSecrets(env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env).flatMap(([name, value]) => (isPlain(value) && !speaksOfSecrets(name) ? [] : [value]));
}

/** Whether it is a single word as people write it, or a number. */
function isPlain(value: string): boolean {
  return /^([a-z]{1,12}|[A-Z]{1,12}|[A-Z][a-z]{1,11}|\d{1,8})$/.test(value);
}

/** Errs on the side of secrecy: a value that is taken for a secret by mistake is only missing in the log. */
function speaksOfSecrets(name: string): boolean {
  return /key|token|secret|pass|pwd|pw$|phrase|auth|sig|cred|cookie|session|private|pin|code|salt|seed|hash|licen[cs]e|hook|jwt|bearer|login|user|account/i.test(
    name,
  );
}

/** Values of a server's transport that are probably secret. */
export function transportSecrets(transport: Transport): string[] {
  if (hasProcess(transport)) return environmentSecrets(transport.env);
  const proxy = typeof transport.proxy === "string" ? urlSecrets(transport.proxy) : [];
  const passphrase = transport.tls?.passphrase === undefined ? [] : [transport.tls.passphrase];
  return [...Object.values(transport.headers), ...addressesOf(transport).flatMap(urlSecrets), ...proxy, ...passphrase];
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
