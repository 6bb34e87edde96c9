import type { Variables } from "./substitution.ts";

export interface NotedReads {
  /** The given variables. Every variable that is read through this object is noted. */
  readonly variables: Variables;
  /** Every variable that was read until now with its value, or null for one that is not set. */
  read(): Readonly<Record<string, string | null>>;
}

/**
 * Records which variables are read. Whatever way the file refers to a variable, none can be missing from the
 * configuration's identity.
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
