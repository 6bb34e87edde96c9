import { createPrivateKey, generateKeyPairSync } from "node:crypto";

/**
 * A new private key for ES256, as a JWK (RFC 7517). Read back from its DER form before it is exported: Node locks a key
 * while it exports it, and what has made the key locks it once more when it is collected. Where the collector runs in
 * the middle of the export, the process waits for itself for ever (seen in Node 20).
 */
export function createSigningKey(): object {
  const { privateKey } = generateKeyPairSync("ec", {
    namedCurve: "P-256",
    publicKeyEncoding: { type: "spki", format: "der" },
    privateKeyEncoding: { type: "pkcs8", format: "der" },
  });
  const key = createPrivateKey({ key: privateKey, format: "der", type: "pkcs8" });
  return { ...key.export({ format: "jwk" }), use: "sig", alg: "ES256" };
}
