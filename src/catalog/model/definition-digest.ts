import { createHash } from "node:crypto";
import { stringifyExact } from "../../wire/json/exact-json.ts";

const known = new WeakMap<object, string>();

/** SHA-256 of a definition, by which it is compared; made once for each. Definitions are never changed. */
export function digestOf(definition: object): string {
  let digest = known.get(definition);
  if (digest === undefined) {
    digest = createHash("sha256").update(stringifyExact(definition)).digest("hex");
    known.set(definition, digest);
  }
  return digest;
}
