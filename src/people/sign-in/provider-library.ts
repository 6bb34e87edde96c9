import type * as OpenIdClient from "openid-client";
import type * as Jose from "jose";

/** What we use of the libraries for identity providers. */
export interface ProviderLibrary {
  readonly client: typeof OpenIdClient;
  readonly jose: typeof Jose;
}

/** Loaded when somebody logs in at an identity provider for the first time. */
export async function loadProviderLibrary(): Promise<ProviderLibrary> {
  const [client, jose] = await Promise.all([import("openid-client"), import("jose")]);
  return { client, jose };
}
