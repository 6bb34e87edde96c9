import * as v from "valibot";
import { filledText } from "../file/check.ts";

/** An issuer's own name for itself: https, or http on this machine, without query, fragment, user name and password. */
export const issuerText = v.pipe(
  filledText,
  v.check(isIssuer, "expected an https:// URL without query, user name and password; http:// is for this machine only"),
);

function isIssuer(written: string): boolean {
  if (!URL.canParse(written) || /[?#]/.test(written)) return false;
  const { protocol, hostname, username, password } = new URL(written);
  if (username !== "" || password !== "") return false;
  const isHere = hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
  return protocol === "https:" || (protocol === "http:" && isHere);
}
