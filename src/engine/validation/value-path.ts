import { isJsonObject } from "../../kernel/text/json-bytes.ts";

/** The value at a JSON pointer (RFC 6901). Undefined when there is none. */
export function atPointer(root: unknown, pointer: string): unknown {
  let value = root;
  for (const key of keysOf(pointer)) {
    if (Array.isArray(value)) value = value[Number(key)];
    else if (isJsonObject(value) && Object.hasOwn(value, key)) value = value[key];
    else return undefined;
  }
  return value;
}

/** `/labels/0/name` as people write it: `labels[0].name`. */
export function toDotted(pointer: string): string {
  let path = "";
  for (const key of keysOf(pointer)) {
    if (/^\d+$/.test(key)) path += `[${key}]`;
    else path += path === "" ? key : `.${key}`;
  }
  return path;
}

function keysOf(pointer: string): string[] {
  if (pointer === "") return [];
  return pointer
    .slice(1)
    .split("/")
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
}
