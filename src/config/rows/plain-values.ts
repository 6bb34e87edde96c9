import type { Origin } from "../file/check.ts";

/** Members of a server's entry that hold texts, but in which people write numbers and `true` without quotes. */
const textParts = ["args", "env", "headers"] as const;

/**
 * A server's entry or overrides with the numbers and booleans under `args`, `env` and `headers` as texts, exactly as
 * they are in the file. As JavaScript numbers, `3.10` and an identifier of twenty digits would change. Values that are
 * null, there or in the entry, are left out: many programs write that where there is nothing. Everything else is
 * unchanged.
 */
export function withTexts(value: unknown, origin: Origin): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const copy = withoutNulls(value);
  for (const part of textParts) {
    if (Object.hasOwn(copy, part)) copy[part] = membersAsTexts(copy[part], origin, part);
  }
  return copy;
}

function membersAsTexts(members: unknown, origin: Origin, part: string): unknown {
  const textOf = (member: unknown, key: string | number): unknown =>
    typeof member === "number" || typeof member === "boolean"
      ? (origin.document.textAt([...origin.path, part, key]) ?? String(member))
      : member;
  if (Array.isArray(members)) return members.map((member, index) => textOf(member, index));
  if (typeof members !== "object" || members === null) return members;
  return Object.fromEntries(Object.entries(withoutNulls(members)).map(([key, member]) => [key, textOf(member, key)]));
}

function withoutNulls(members: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, member]) => member !== null));
}

/** The same for the values that teams and people set for servers in the `toolyard` object. */
export function withOverrideTexts(settings: unknown, { document, path }: Origin): unknown {
  return mapMembers(settings, (group, people) =>
    group !== "teams" && group !== "principals"
      ? people
      : mapMembers(people, (name, person) =>
          mapMembers(person, (part, servers) =>
            part !== "servers"
              ? servers
              : mapMembers(servers, (key, overrides) =>
                  withTexts(overrides, { document, path: [...path, group, name, part, key] }),
                ),
          ),
        ),
  );
}

function mapMembers(value: unknown, change: (key: string, member: unknown) => unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, change(key, member)]));
}
