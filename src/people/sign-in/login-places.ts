import { GatewayError } from "../../kernel/failures/gateway-error.ts";

/**
 * Logins that come back from one provider at once: each asks the database, waits for the provider, and then for those
 * before it. Half of what the database's queue takes, so that other changes find room there; with a provider that takes
 * a second, 32 people log in each second. Counted per provider, so that one that hangs does not block the others.
 */
const mostComingBack = 32;
const retryS = 10;

/** Runs `login` where the provider has a place left; rejects with LOGIN_BUSY before it has done anything where not. */
export type InLoginPlace = <T>(provider: string, login: () => Promise<T>) => Promise<T>;

export function createLoginPlaces(): InLoginPlace {
  const taken = new Map<string, number>();

  return async (provider, login) => {
    const before = taken.get(provider) ?? 0;
    if (before >= mostComingBack)
      throw new GatewayError("LOGIN_BUSY", `${before} people come back from ${provider} at this moment`, {
        data: { retry_after_s: retryS },
      });
    taken.set(provider, before + 1);
    try {
      return await login();
    } finally {
      const left = (taken.get(provider) ?? 1) - 1;
      if (left === 0) taken.delete(provider);
      else taken.set(provider, left);
    }
  };
}
