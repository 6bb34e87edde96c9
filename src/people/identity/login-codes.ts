import { createHash, randomBytes } from "node:crypto";
import type { Clock } from "../../kernel/runtime/clock.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";

/** Codes that log the owner of the data directory in at the dashboard, each once and within five minutes. */
export interface LoginCodes {
  /** A new code of 256 bits. It is in the fragment of a link, which no log and no Referer shows. */
  make(): string;
  /** Uses a code up. Throws UNAUTHORIZED for one that was never made, is used already, or is too old. */
  use(code: string): void;
}

const codeMs = 5 * 60_000;
/** Each `toolyard open` makes one. The oldest is forgotten. */
const mostCodes = 20;

/** Codes end with the gateway. Made at every start, so that it loads nothing. */
export function createLoginCodes(clock: Pick<Clock, "monotonic">): LoginCodes {
  const codes = new Map<string, number>();

  const isOld = (madeMs: number): boolean => clock.monotonic() - madeMs > codeMs;

  return {
    make() {
      const code = randomBytes(32).toString("base64url");
      for (const [hash, madeMs] of codes) if (isOld(madeMs)) codes.delete(hash);
      if (codes.size >= mostCodes) codes.delete(codes.keys().next().value as string);
      codes.set(hashOf(code), clock.monotonic());
      return code;
    },
    use(code) {
      const hash = hashOf(code);
      const madeMs = codes.get(hash);
      codes.delete(hash);
      if (madeMs !== undefined && !isOld(madeMs)) return;
      throw new GatewayError("UNAUTHORIZED", "this link was used already, or is older than five minutes", {
        hint: "`toolyard open` makes a new one.",
      });
    },
  };
}

function hashOf(code: string): string {
  return createHash("sha256").update(code).digest("hex");
}

/** Path and fragment of a link that logs a browser in. The code is in the fragment, which browsers never send. */
export function toDashboardLink(code: string): string {
  return `/ui/#code=${code}`;
}
