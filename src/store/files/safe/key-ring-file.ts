import { createHash } from "node:crypto";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import type { KeySource } from "../../../config/key-source.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { KeyRing, WrappingKey } from "../../store.ts";
import { seal, unseal } from "./sealing.ts";
import { createVaultKey, keyFile, previousKey } from "./vault-key.ts";

/**
 * The keys in a gateway's folder, or those that were given. Rejects with CONFIG_INVALID where there is none and none
 * may be made, because something was wrapped with one, and as `createVaultKey` does.
 *
 * A rotation writes the new key to a second file first, and replaces the first one last. Whenever it is interrupted,
 * everything can be opened with one of the two files.
 */
export async function openKeyRing(folder: string, source: KeySource, mayCreate: boolean): Promise<KeyRing> {
  const [path, nextPath] = [join(folder, "vault.key"), join(folder, "vault.key.next")];
  const key = createVaultKey(folder, source);
  const isOurs = key.kind === "file";
  const before = await previousKey(folder, source)?.load(mayCreate);
  // With the one before it named, nothing is lost where this one is new.
  const first = await key.load(mayCreate || before !== undefined);
  const coming = isOurs ? await keyFile(nextPath, false) : undefined;
  if (first === undefined) throw missing(isOurs ? path : join(folder, "vault.salt"));
  let current = toWrappingKey(first);
  let next = coming === undefined ? undefined : toWrappingKey(coming);
  const others = before === undefined ? [] : [toWrappingKey(before)];

  return {
    // A key that is made while everything else is wrapped again would be lost if the old one wrapped it.
    get current() {
      return next ?? current;
    },
    get isRotating() {
      return next !== undefined;
    },
    find: (id) => [current, ...(next === undefined ? [] : [next]), ...others].find((one) => one.id === id),
    async next() {
      if (!isOurs) return current;
      return (next ??= toWrappingKey((await keyFile(nextPath, true)) as Buffer));
    },
    async adopt() {
      if (next === undefined) return;
      await rename(nextPath, path);
      current = next;
      next = undefined;
    },
  };
}

function missing(path: string): GatewayError {
  return new GatewayError("CONFIG_INVALID", `the key of the secrets is missing: ${path} does not exist`, {
    hint:
      "Put the file back from where you keep it, or set TOOLYARD_KEY as it was. A backup of the database does not " +
      "hold it.",
  });
}

function toWrappingKey(key: Buffer): WrappingKey {
  return {
    id: createHash("sha256").update("toolyard wrapping key\0").update(key).digest("hex").slice(0, 16),
    wrap: (dataKey, bound) => seal(key, dataKey, bound).toString("base64"),
    unwrap: (wrapped, bound) => unseal(key, Buffer.from(wrapped, "base64"), bound),
  };
}
