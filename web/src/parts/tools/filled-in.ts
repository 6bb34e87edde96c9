type Values = Readonly<Record<string, unknown>>;

/** A form as far as it has been filled in: the ids of its fields that were, as the form library makes them. */
export interface FilledIn {
  /** All members of values that come from elsewhere count as filled in. */
  take(values: Values): void;
  note(fieldId: string): void;
  /**
   * Without the optional members that the form library added, so that it has something to show: a list
   * without entries, the first of several forms of an object. A tool would take them for what a person wants.
   */
  withoutGuesses(values: Values, schema: Values): Values;
}

/** @param prefix with which ids of fields begin */
export function createFilledIn(prefix: string): FilledIn {
  const filled = new Set<string>();
  const isFilled = (id: string): boolean => [...filled].some((one) => one === id || one.startsWith(`${id}_`));

  function take(value: unknown, id: string): void {
    filled.add(id);
    if (isValues(value)) for (const [name, member] of Object.entries(value)) take(member, `${id}_${name}`);
  }

  function prune(values: Values, schema: Values, id: string): Values {
    const { properties, required } = schema;
    if (!isValues(properties)) return values;
    const needed = Array.isArray(required) ? (required as readonly unknown[]) : [];
    const kept = Object.entries(values).flatMap(([name, value]) => {
      const [own, ownId] = [properties[name], `${id}_${name}`];
      if (!isValues(own)) return [[name, value] as const];
      const isGuess = !needed.includes(name) && own["default"] === undefined && !isFilled(ownId);
      if (isGuess) return [];
      return [[name, isValues(value) ? prune(value, own, ownId) : value] as const];
    });
    return Object.fromEntries(kept);
  }

  return {
    take(values) {
      for (const [name, value] of Object.entries(values)) take(value, `${prefix}_${name}`);
    },
    note: (fieldId) => void filled.add(fieldId),
    withoutGuesses: (values, schema) => prune(values, schema, prefix),
  };
}

function isValues(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
