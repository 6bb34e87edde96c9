import type { Config, ServerOverrides, Transport } from "./config.ts";

/** Shorter values ("true", "1", "info") would black out half of a log and hide nothing. */
const shortestSecret = 6;

/**
 * What must never be shown: every value that a variable brought in, every value under `env`, `headers` and `apiKey`, a
 * credential without its scheme (`Bearer x` also as `x`), and what a URL carries in its user part or in parameters that are called like
 * secrets. Values below six characters are left out. Literal arguments are not known to be secret.
 */
export function secretsOf(config: Config): ReadonlySet<string> {
  const secrets = new Set<string>();
  const add = (value: string | undefined) => {
    for (const part of [value, value?.replace(/^(Bearer|Basic|Token|ApiKey)\s+/i, "")]) {
      if (part !== undefined && part.length >= shortestSecret) secrets.add(part);
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

function transportSecrets(transport: Transport): string[] {
  if (transport.kind === "stdio") return Object.values(transport.env);
  return [...Object.values(transport.headers), ...urlSecrets(transport.url)];
}

function overrideSecrets(overrides: ServerOverrides): string[] {
  return [...Object.values(overrides.env ?? {}), ...Object.values(overrides.headers ?? {})];
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
