import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { registryChoices } from "./registry-entry.ts";
import { variableFor, type Inputs } from "./registry-inputs.ts";
import type { ServerInput, ServerJson } from "./server-json.ts";
import type { TierField } from "../people/tier-fields.ts";

/** A template for teams: an entry as in `mcpServers`, and what has to be filled in. */
export interface RegistryTemplate {
  readonly entry: object;
  readonly fields: readonly TierField[];
}

interface Entry {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * The template of a `server.json`. A required secret is a secret of the team, other required values come from the team,
 * and the rest from each person. Throws REGISTRY_FAILED where nothing of it can be used.
 *
 * @param kind which of its packages and remotes; the first one otherwise
 */
export function toRegistryTemplate(json: ServerJson, kind: string | undefined): RegistryTemplate {
  const { choices, unusable } = registryChoices(json);
  const choice = choices.find((one) => kind === undefined || one.kind === kind);
  if (choice === undefined)
    throw new GatewayError("REGISTRY_FAILED", `${json.name} has nothing that can be used: ${unusable.join("; ")}`);
  const inputs = createMarkedInputs(json.name.split("/").at(-1) ?? json.name);
  const entry = choice.toEntry(inputs) as Entry;
  const ofRecord = (part: "env" | "headers") => splitRecord(part, entry[part] ?? {}, inputs.marked);
  const [env, headers, args] = [ofRecord("env"), ofRecord("headers"), splitArgs(entry.args ?? [], inputs.marked)];
  return {
    entry: {
      ...entry,
      ...(entry.args === undefined ? {} : { args: args.fixed }),
      ...(entry.env === undefined ? {} : { env: env.fixed }),
      ...(entry.headers === undefined ? {} : { headers: headers.fixed }),
    },
    fields: [...env.fields, ...headers.fields, ...args.fields],
  };
}

type Marked = ReadonlyMap<string, ServerInput & { readonly name: string }>;

/** Inputs that stand as marks in the entry until it is taken apart. No argument of a package has such a character. */
function createMarkedInputs(server: string): Inputs & { readonly marked: Marked } {
  const marked = new Map<string, ServerInput & { readonly name: string }>();

  function resolve(name: string, input: ServerInput): string {
    if (input.value !== undefined)
      return input.value.replace(/\{([^{}]+)\}/g, (whole, inner: string) =>
        input.variables !== undefined && Object.hasOwn(input.variables, inner)
          ? `\${secret:${variableFor(server, inner)}}`
          : whole,
      );
    const mark = `\0${marked.size}`;
    marked.set(mark, { ...input, name });
    return mark;
  }

  return {
    resolve,
    resolveAll: (name, input) => [resolve(name, input)],
    offered: [],
    missing: [],
    variables: new Map(),
    unused: () => [],
    refused: [],
    marked,
  };
}

function toField(path: string, input: ServerInput): TierField {
  const { isRequired, isSecret, choices, description } = input;
  const type = isSecret ? "secret" : choices === undefined ? "string" : "enum";
  return {
    ...{ path, type, required: isRequired, locked: false, visible: true },
    tier: isRequired ? "team" : "user",
    ...(input.default === undefined || isSecret ? {} : { default: input.default }),
    ...(description === undefined ? {} : { description: description.slice(0, 1_000) }),
    ...(type === "enum" ? { enum: choices } : {}),
  };
}

function splitRecord(part: string, record: Readonly<Record<string, string>>, marked: Marked) {
  const fixed: Record<string, string> = {};
  const fields: TierField[] = [];
  for (const [name, value] of Object.entries(record)) {
    const input = marked.get(value);
    if (input === undefined) fixed[name] = value;
    else fields.push(toField(`${part}.${name}`, input));
  }
  return { fixed, fields };
}

/** Behind the first argument that is filled in, all others are fields, too, so that they keep their order. */
function splitArgs(words: readonly string[], marked: Marked) {
  const first = words.findIndex((word) => marked.has(word));
  if (first === -1) return { fixed: words, fields: [] };
  const isFlag = (word: string | undefined): boolean => word?.startsWith("-") === true;
  const start = isFlag(words[first - 1]) ? first - 1 : first;
  const fields: TierField[] = [];
  for (let at = start; at < words.length; at += 1) {
    const word = words[at] ?? "";
    const next = marked.get(words[at + 1] ?? "");
    const path = (name: string): string => `args.${fields.length + 1}-${name.replace(/[^\w-]+/g, "-").slice(0, 80)}`;
    const input = marked.get(word);
    if (input !== undefined) fields.push(toField(path(input.name), input));
    else if (isFlag(word) && next !== undefined) {
      fields.push({ ...toField(path(next.name), next), flag: word });
      at += 1;
    } else
      fields.push({
        ...{ path: path("fixed"), tier: "template", type: "string", required: false, locked: true, visible: false },
        default: word,
      });
  }
  return { fixed: words.slice(0, start), fields };
}
