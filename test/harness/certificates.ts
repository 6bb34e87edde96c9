import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Of the key of a client's certificate. */
export const keyPassphrase = "correct horse battery";

/** A company's own authority (`ca`), certificates of servers below it, and one of a client, whose key is encrypted. */
export interface Certificates {
  path(name: string): string;
  read(name: string): string;
}

/** Writes `ca.pem`, `server.pem`, `client.pem` and their keys (`server-key.pem`) with openssl. */
export function makeCertificates(folder: string, serverNames: readonly string[]): Certificates {
  const openssl = (...args: string[]): void => void execFileSync("openssl", args, { stdio: "pipe", cwd: folder });
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
  openssl("req", "-x509", ...newKey, "-nodes", "-keyout", "ca-key.pem", "-out", "ca.pem", "-subj", "/CN=Company CA");
  const issue = (name: string, key: readonly string[], extension: string): void => {
    const wanted = ["-keyout", `${name}-key.pem`, "-out", `${name}.csr`, "-subj", `/CN=${name}`, "-addext", extension];
    openssl("req", ...newKey, ...key, ...wanted);
    const authority = ["-CA", "ca.pem", "-CAkey", "ca-key.pem", "-CAcreateserial"];
    openssl("x509", "-req", "-in", `${name}.csr`, ...authority, "-out", `${name}.pem`, "-copy_extensions", "copy");
  };
  issue("server", ["-nodes"], `subjectAltName=${serverNames.map((name) => `DNS:${name}`).join(",")}`);
  issue("client", ["-passout", `pass:${keyPassphrase}`], "extendedKeyUsage=clientAuth");
  const path = (name: string): string => join(folder, `${name}.pem`);
  return { path, read: (name) => readFileSync(path(name), "utf8") };
}
