/**
 * Freezes a value and everything in it, including the values of maps. Maps and sets themselves are read-only by type
 * only.
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  if (value instanceof Map) for (const member of value.values()) deepFreeze(member);
  for (const member of Object.values(value)) deepFreeze(member);
  return value;
}
