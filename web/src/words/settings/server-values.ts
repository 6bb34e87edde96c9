/** Typed text, as the gateway takes it: further arguments are a list, and nothing takes a value away. */
export function toGivenValue(path: string, text: string): string | string[] | null {
  if (text === "") return null;
  return path === "args" ? text.split("\n").filter((word) => word !== "") : text;
}

export function toTypedValue(value: string | readonly string[] | null): string {
  if (value === null) return "";
  return typeof value === "string" ? value : value.join("\n");
}
