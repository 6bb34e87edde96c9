import { isJsonObject } from "../../../kernel/text/json-bytes.ts";
import type { OffKind } from "../table/client-row.ts";

/** What a client says is off, wherever it says it. */
export interface OffFacts {
  readonly kind: OffKind;
  /** The value there; anything but a list or an object is ignored. */
  readonly value: unknown;
}

/** The parts of one server that are switched off. */
export interface SwitchedOff {
  readonly isOff: boolean;
  /** Its tools that are off; `*` matches any characters. */
  readonly tools: readonly string[];
}

/** What the client's lists switch off of the server with this name. */
export function switchedOff(name: string, facts: readonly OffFacts[]): SwitchedOff {
  let isOff = false;
  const tools = new Set<string>();
  for (const { kind, value } of facts) {
    const found = readers[kind](name, value);
    isOff ||= found.isOff;
    for (const tool of found.tools) tools.add(tool);
  }
  return { isOff, tools: [...tools] };
}

const nothing: SwitchedOff = { isOff: false, tools: [] };

const readers: Readonly<Record<OffKind, (name: string, value: unknown) => SwitchedOff>> = {
  denied: (name, value) => ({ isOff: Array.isArray(value) && value.includes(name), tools: [] }),
  allowed: (name, value) => ({ isOff: Array.isArray(value) && !value.includes(name), tools: [] }),
  rules(name, value) {
    if (!Array.isArray(value)) return nothing;
    const prefix = `mcp__${plainName(name)}`;
    const own = value.filter((rule) => typeof rule === "string" && (rule === prefix || rule.startsWith(`${prefix}__`)));
    const tools = own
      .map((rule: string) => rule.slice(prefix.length + 2))
      .filter((tool) => tool !== "" && tool !== "*");
    return { isOff: own.some((rule: string) => rule === prefix || rule === `${prefix}__*`), tools };
  },
  switches(name, value) {
    if (!isJsonObject(value)) return nothing;
    const prefix = `${plainName(name)}_`;
    const off = Object.keys(value).filter((key) => value[key] === false || value[key] === "deny");
    const isOff = off.some((key) => key.endsWith("*") && prefix.startsWith(key.slice(0, -1)));
    const tools = off.filter((key) => key.startsWith(prefix) && key !== `${prefix}*`);
    return { isOff, tools: tools.map((key) => key.slice(prefix.length)).filter((tool) => tool !== "") };
  },
};

/** Both clients that name tools so replace all characters but letters, digits, `_` and `-`. */
export function plainName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, "_");
}
