import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

const ivBytes = 12;
const tagBytes = 16;

/** How much longer a sealed text is than its UTF-8. */
export const sealBytes = ivBytes + tagBytes;

/**
 * AES-256-GCM with a random IV: IV, tag, ciphertext. `bound` is authenticated too: a text that is sealed for one place
 * does not open at another. A key may seal some 2^32 texts, which is more than a gateway's people can write.
 */
export function seal(key: Buffer, content: Buffer | string, bound: Buffer | string): Buffer {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv("aes-256-gcm", key, iv, { authTagLength: tagBytes }).setAAD(toBytes(bound));
  const body = Buffer.concat([cipher.update(toBytes(content)), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), body]);
}

/** Undefined for another key, another place, or bytes that were changed. */
export function unseal(key: Buffer, sealed: Buffer, bound: Buffer | string): Buffer | undefined {
  if (sealed.length < sealBytes) return undefined;
  const iv = sealed.subarray(0, ivBytes);
  const decipher = createDecipheriv("aes-256-gcm", key, iv, { authTagLength: tagBytes }).setAAD(toBytes(bound));
  decipher.setAuthTag(sealed.subarray(ivBytes, sealBytes));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(sealBytes)), decipher.final()]);
  } catch {
    return undefined;
  }
}

function toBytes(content: Buffer | string): Buffer {
  return typeof content === "string" ? Buffer.from(content, "utf8") : content;
}
