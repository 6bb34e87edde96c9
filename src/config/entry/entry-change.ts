import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Document } from "../file/document.ts";
import { switchedOffIn, type ServerPlace } from "../file/source.ts";

/**
 * One value that is set in a file of a person's, or removed from it. All else in the file stays as its owner wrote it.
 *
 * A number in the path is the place in a list; a text that begins a path is a key of the file's outermost object.
 */
export interface EntryChange {
  readonly path: readonly (string | number)[];
  /** The new value. Undefined removes the old one, key and all. */
  readonly value: unknown;
}

/**
 * The changes that switch a server of the file on or off; none where it is so already. On is an entry that says nothing
 * of it, and off is said in the spelling that the entry has. Throws CONFIG_INVALID where a list of the file switches it
 * off.
 */
export function switchChanges(
  { document, key, path }: ServerPlace & { readonly document: Document },
  isOn: boolean,
): readonly EntryChange[] {
  const [enabled, disabled] = ["enabled", "disabled"].map((name) => document.value([...path, name]));
  const change = (name: string, value?: boolean): EntryChange => ({ path: [...path, name], value });
  if (!isOn) {
    if (enabled === false || disabled === true) return [];
    return [enabled === undefined && disabled !== undefined ? change("disabled", true) : change("enabled", false)];
  }
  if (switchedOffIn(document)(key))
    throw new GatewayError(
      "CONFIG_INVALID",
      `${document.place(["mcp"])}: \`mcp.allowed\` or \`mcp.excluded\` switches ${key} off`,
      { hint: "Change that list in the file." },
    );
  return [...(enabled === false ? [change("enabled")] : []), ...(disabled === true ? [change("disabled")] : [])];
}
