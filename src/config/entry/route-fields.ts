import * as v from "valibot";
import { text as plainText } from "../file/check.ts";
import { optionalGroup, other, text, together } from "../rows/setting-row.ts";

const proxyPattern = /^https?:\/\/[^/]|\$\{/i;
const proxySchema = v.union([
  v.literal(false),
  // A variable that is not set is reported elsewhere.
  v.pipe(v.string(), v.regex(proxyPattern, "expected the http:// or https:// URL of a proxy, or false for none")),
]);

/** The fields for reaching a remote server through a company's network. */
export const routeFields = {
  proxy: other({
    fallback: undefined,
    fallbackText: "according to `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`",
    schema: proxySchema,
    json: { anyOf: [{ const: false }, { type: "string", pattern: "^https?://[^/]|\\$\\{" }] },
    type: "http:// or https:// URL, or `false`",
    about: "the proxy that the server is reached through; `false` for none",
    example: "https://proxy.example.com:3128",
  }),
  tls: optionalGroup(
    "certificates for the connection to a remote server; the files are read for each connection",
    {
      caFile: text({
        fallback: undefined,
        fallbackText: "those that Node trusts",
        about: "a PEM file with the authorities to trust",
        example: "company-ca.pem",
      }),
      certFile: text({
        fallback: undefined,
        about: "a PEM file with the gateway's client certificate; needs `keyFile`",
        example: "client.pem",
      }),
      keyFile: text({ fallback: undefined, about: "a PEM file with the certificate's key", example: "client-key.pem" }),
      passphrase: text({
        fallback: undefined,
        schema: plainText,
        about: "the passphrase of the key, if it is encrypted",
        example: "${KEY_PASSPHRASE}",
      }),
    },
    together(
      ["certFile", "keyFile"],
      "expected `certFile` and `keyFile` together: a certificate is of no use without its key",
    ),
  ),
};
