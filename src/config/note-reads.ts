import type { Variables } from "./substitution.ts";

export interface NotedReads {
  /** The variables given, and nothing else: whatever is asked for is noted. */
  readonly variables: Variables;
  /** Every variable that was asked for until now, as it was found; null for one that is not set. */
  read(): Readonly<Record<string, string | null>>;
}

/**
 * Whoever reads a variable is seen here, however the file refers to it: none can be forgotten in the configuration's
 * identity.
 */
export function noteReads(given: Variables): NotedReads {
  const names = new Set<string>();
  const note = (name: string | symbol): void => {
    if (typeof name === "string") names.add(name);
  };
  const variables = new Proxy(given, {
    get(target, name) {
      note(name);
      return Reflect.get(target, name) as unknown;
    },
    getOwnPropertyDescriptor(target, name) {
      note(name);
      return Reflect.getOwnPropertyDescriptor(target, name);
    },
  });
  return {
    variables,
    read: () =>
      Object.fromEntries(
        [...names].sort().map((name) => [name, Object.hasOwn(given, name) ? (given[name] ?? null) : null]),
      ),
  };
}
