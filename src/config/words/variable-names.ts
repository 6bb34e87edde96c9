type Values = Readonly<Record<string, string | undefined>>;

/** A name in capitals, such as `MY_SERVER` for `my-server`. Never begins with a digit. */
export function toConstant(name: string): string {
  const constant = name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "")
    .slice(0, 60);
  return /^[A-Z]/.test(constant) ? constant : `SERVER_${constant}`.replace(/_$/, "");
}

/** Variables of ours stand for options, and are no values of servers. */
const ours = /^TOOLYARD_(?!INPUT_)/;

/** Whether a configuration may name a variable for a value of a server. */
export function isVariableOfServers(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_.-]{0,199}$/.test(name) && !ours.test(name);
}

/** The name of the variable that takes the place of a value, made of the one that it would have without a server. */
export type VariableNames = (variable: string, value: string, server: string) => string;

/**
 * A variable for each value. Equal values share one. A name that another value has, here or among `known`, is not used:
 * the server's own name goes before it. None is one of ours.
 */
export function createVariableNames(known: Values): VariableNames {
  const values = new Map<string, string>();
  return (variable, value, server) => {
    const own = `${toConstant(server)}_${variable}`;
    for (let count = 0; ; count += 1) {
      const wanted = count === 0 ? variable : count === 1 ? own : `${own}_${count}`;
      const name = ours.test(wanted) ? `SERVER_${wanted}` : wanted;
      const other = values.get(name) ?? (known[name] || undefined);
      if (other !== undefined && other !== value) continue;
      values.set(name, value);
      return name;
    }
  };
}
