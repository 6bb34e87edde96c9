import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";

/** Closes texts so that only this gateway can read them, and only where they were put. */
export interface Sealing {
  /** @param place what the text belongs to: somewhere else it does not open */
  seal(text: string, place: string): string;
  /** Undefined for what was not sealed here, or was moved. */
  open(sealed: string, place: string): string | undefined;
  /** A short text that people type, so that it can be found and not be read. */
  blind(text: string): string;
  /** A key for something else, as text. */
  derive(what: string): string;
}

const ivBytes = 12;
const tagBytes = 16;

export function createSealing(secret: Uint8Array): Sealing {
  const keyFor = (what: string): Buffer => Buffer.from(hkdfSync("sha256", secret, "", `toolyard ${what}`, 32));
  const [key, blindKey] = [keyFor("seal"), keyFor("blind")];
  return {
    seal(text, place) {
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(Buffer.from(place));
      const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), body]).toString("base64url");
    },
    open(sealed, place) {
      const bytes = Buffer.from(sealed, "base64url");
      if (bytes.length < ivBytes + tagBytes) return undefined;
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, ivBytes)).setAAD(Buffer.from(place));
      decipher.setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
      try {
        return Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]).toString();
      } catch {
        return undefined;
      }
    },
    blind: (text) => createHmac("sha256", blindKey).update(text).digest("hex"),
    derive: (what) => keyFor(what).toString("base64url"),
  };
}
