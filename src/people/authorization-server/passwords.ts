import { randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from "node:crypto";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";

/** Hashes and checks passwords, one thing that is made to take long. */
export interface Passwords {
  /** `scrypt$<log2 N>$<r>$<p>$<salt>$<hash>`, so that a later version can ask for more. */
  hash(password: string): Promise<string>;
  /** Takes as long where there is no hash: waiting does not tell who has an account. */
  isRight(password: string, hash: string | undefined): Promise<boolean>;
}

interface Cost {
  readonly logN: number;
  readonly r: number;
  readonly p: number;
}

/** 128 MB and about 0.4 s each: as OWASP wants it for scrypt. */
const usualCost: Cost = { logN: 17, r: 8, p: 1 };
/** More at once would take the memory of the gateway, and the threads of its file system. */
const atOnce = 2;
/** Those that may wait: half a minute's work. A further sender is asked to try again. */
const mostWaiting = 50;
const hashBytes = 32;
/** In bytes. Longer ones would only make hashing slower. */
export const longestPassword = 1_024;
export const shortestPassword = 12;

/** @param cost less for tests, which have to hash many */
export function createPasswords(cost: Cost = usualCost): Passwords {
  const turns = createTurns();

  async function derive(password: string, salt: Buffer, { logN, r, p }: Cost): Promise<Buffer> {
    // Twice what it takes: Node refuses it exactly at the limit.
    const options: ScryptOptions = { N: 2 ** logN, r, p, maxmem: 256 * r * 2 ** logN };
    return await turns(
      async () =>
        await new Promise((resolve, reject) => {
          // Two ways of typing the same letters are one password.
          scrypt(password.normalize("NFC"), salt, hashBytes, options, (error, key) =>
            error === null ? resolve(key) : reject(error),
          );
        }),
    );
  }

  return {
    async hash(password) {
      const salt = randomBytes(16);
      const key = await derive(password, salt, cost);
      return ["scrypt", cost.logN, cost.r, cost.p, salt.toString("base64url"), key.toString("base64url")].join("$");
    },
    async isRight(password, hash) {
      const kept = hash === undefined ? undefined : parseHash(hash);
      const key = await derive(password, kept?.salt ?? randomBytes(16), kept?.cost ?? cost);
      return kept !== undefined && timingSafeEqual(key, kept.key);
    },
  };
}

function parseHash(hash: string): { readonly cost: Cost; readonly salt: Buffer; readonly key: Buffer } {
  const [kind, logN, r, p, salt = "", key = ""] = hash.split("$");
  const bytes = Buffer.from(key, "base64url");
  if (kind !== "scrypt" || bytes.length !== hashBytes) throw new Error("the database holds a password in another form");
  return { cost: { logN: Number(logN), r: Number(r), p: Number(p) }, salt: Buffer.from(salt, "base64url"), key: bytes };
}

/** So many at once; the others wait, up to a limit. Rejects with RATE_LIMITED beyond it. */
function createTurns() {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async function take<T>(work: () => Promise<T>): Promise<T> {
    if (running >= atOnce) {
      if (waiting.length >= mostWaiting)
        throw new GatewayError("RATE_LIMITED", "too many people log in at once", { data: { retry_after_s: 10 } });
      await new Promise<void>((resolve) => void waiting.push(resolve));
    } else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
