import type { EntryChange } from "../entry/entry-change.ts";
import { changeJson } from "./json-change.ts";

/**
 * The text of a configuration with members set or removed, as `changeJson` does it; also one with a byte-order mark, or
 * an empty one. Throws an Error for a path that leads through anything but objects.
 */
export function editJson(text: string, edits: readonly EntryChange[]): string {
  const mark = text.startsWith("\uFEFF") ? "\uFEFF" : "";
  return mark + edits.reduce(editOnce, text.slice(mark.length));
}

function editOnce(text: string, edit: EntryChange): string {
  const isEmpty = text.trim() === "";
  if (isEmpty && edit.value === undefined) return text;
  const changed = changeJson(isEmpty ? "{}\n" : text, edit);
  if (changed === undefined) throw new Error(`expected an object at ${edit.path.slice(0, -1).join(".")}`);
  return changed;
}
