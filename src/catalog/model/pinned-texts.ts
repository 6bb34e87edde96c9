import type { ToolPath } from "../../kernel/ids.ts";
import { digestOf, type InstanceCatalog, type ToolEntry } from "./snapshot.ts";

/** Of a server, texts are remembered like its tools, in entries that are never called. */
export interface PinnedEntry extends ToolEntry {
  /** It has no effect and no parameters, whatever its name says. */
  readonly isText?: true;
}

/** The name under which a server's instructions are remembered, shown and decided about. */
const instructionsName = "server/instructions";

/** The same of one of its prompts. */
export function pinnedPrompt(name: string): string {
  return `prompts/${name}`;
}

const known = new WeakMap<InstanceCatalog, readonly PinnedEntry[]>();

/** Everything of a catalog that is remembered: its tools, its prompts, and its instructions. */
export function pinnedIn(catalog: InstanceCatalog): readonly PinnedEntry[] {
  let entries = known.get(catalog);
  if (entries === undefined) known.set(catalog, (entries = [...catalog.tools, ...textsIn(catalog)]));
  return entries;
}

/** Its prompts and instructions alone, with the reason where one waits. */
export function textsIn({ server, prompts, instructions, heldTexts = {} }: InstanceCatalog): readonly PinnedEntry[] {
  const toEntry = (name: string, written: object): PinnedEntry => {
    const held = Object.hasOwn(heldTexts, name) ? heldTexts[name] : undefined;
    return {
      ...{ server, upstreamName: name, path: `${server}:${name}` as ToolPath, isText: true },
      ...{ definition: written as ToolEntry["definition"], hash: digestOf(written) },
      ...(held === undefined ? {} : { held }),
    };
  };
  const said = instructions === undefined ? [] : [{ name: "instructions", description: instructions }];
  return [
    ...prompts.map(({ definition }) => toEntry(pinnedPrompt(definition.name), definition)),
    ...said.map((written) => toEntry(instructionsName, written)),
  ];
}

const shown = new WeakMap<InstanceCatalog, InstanceCatalog>();

/** The catalog as it may be shown: without prompts and instructions that wait. The same where none do. */
export function withoutHeldTexts(catalog: InstanceCatalog): InstanceCatalog {
  const { heldTexts } = catalog;
  if (heldTexts === undefined) return catalog;
  let without = shown.get(catalog);
  if (without === undefined) {
    const isHeld = (name: string): boolean => Object.hasOwn(heldTexts, name);
    without = Object.freeze({
      ...catalog,
      prompts: Object.freeze(catalog.prompts.filter(({ definition }) => !isHeld(pinnedPrompt(definition.name)))),
      ...(isHeld(instructionsName) ? { instructions: undefined } : {}),
    });
    shown.set(catalog, without);
  }
  return without;
}
