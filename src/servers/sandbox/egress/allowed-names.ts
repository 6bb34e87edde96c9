/** Host names that a server may reach. */
export interface AllowedNames {
  /** Whether any port of the name may be reached. `name` is in small letters, without a dot at its end. */
  has(name: string): boolean;
  /**
   * How far a connection to this name and port may lead; undefined: it is not allowed. Private addresses are for names
   * that are written in full and with their port.
   */
  reach(name: string, port: number): "public" | "private" | undefined;
  /** Every port that a name may have. */
  readonly ports: readonly number[];
}

const webPorts: readonly number[] = [80, 443];

interface Rule {
  /** Undefined: every name. With a dot at its beginning: all names that end with it. */
  readonly suffix: string | undefined;
  readonly port: number | undefined;
}

/** From `api.example.com`, `*.example.com`, `*` and `db.internal:5432`. Pure. */
export function createAllowedNames(written: readonly string[]): AllowedNames {
  const rules = written.map(toRule);
  const byName = new Map<string, Rule[]>();
  const wide = rules.filter(({ suffix }) => suffix === undefined || suffix.startsWith("."));
  for (const rule of rules)
    if (rule.suffix !== undefined && !rule.suffix.startsWith("."))
      byName.set(rule.suffix, [...(byName.get(rule.suffix) ?? []), rule]);

  function rulesFor(name: string): readonly Rule[] {
    const fits = ({ suffix }: Rule): boolean => suffix === undefined || name.endsWith(suffix);
    return [...(byName.get(name) ?? []), ...wide.filter(fits)];
  }

  return {
    has: (name) => rulesFor(name).length > 0,
    reach(name, port) {
      const fitting = rulesFor(name).filter((rule) =>
        rule.port === undefined ? webPorts.includes(port) : rule.port === port,
      );
      if (fitting.length === 0) return undefined;
      return fitting.some((rule) => rule.port !== undefined && rule.suffix === name) ? "private" : "public";
    },
    ports: [...new Set(rules.flatMap(({ port }) => (port === undefined ? webPorts : [port])))],
  };
}

function toRule(written: string): Rule {
  const [name = "", port] = written.toLowerCase().split(":");
  const suffix = name === "*" ? undefined : name.startsWith("*.") ? name.slice(1) : name;
  return { suffix, port: port === undefined ? undefined : Number(port) };
}
