import type { AddressRules } from "./protocol/addresses.ts";
import type { Callback } from "./flow/callback.ts";
import type { LoginPlace, Outgoing } from "./outgoing.ts";

export interface LoginOptions extends LoginPlace {
  /** Headers configured for the server; sent to it only. */
  readonly headers: Readonly<Record<string, string>>;
  /** Asked for instead of what the server names; with what was granted before, when a login is widened. */
  readonly scope: string | undefined;
  /** A client that the user registered; otherwise the metadata document or dynamic registration. */
  readonly client: { readonly id: string; readonly secret: string | undefined } | undefined;
  /** Client ID metadata document (https), used where the authorization server takes such. */
  readonly clientMetadataUrl: string | undefined;
  /** Where the browser comes back to: a port of this machine, or a page of the gateway. */
  readonly openCallback: () => Promise<Callback>;
  /** Brings the person to the authorization server: called once per login. */
  readonly open: (url: string) => void;
  readonly now: () => number;
  /** Given where there is no browser: shows what the person types elsewhere (RFC 8628), instead of all that. */
  readonly device?: ((shown: DeviceCode) => void) | undefined;
}

/** What a person does on another machine: opens an address, and types a code there. */
export interface DeviceCode {
  readonly url: string;
  /** Of a stranger: at most 64 characters, of any kind. */
  readonly code: string;
  /** How long it is waited for. */
  readonly lifetimeMs: number;
}

/** What every step of one login works with. */
export interface Flow {
  readonly options: LoginOptions;
  readonly rules: AddressRules;
  readonly outgoing: Outgoing;
  /** Origin of the server. */
  readonly home: string;
  readonly signal: AbortSignal;
}

/** What an authorization server says of itself (RFC 8414, OpenID Connect Discovery), as far as a login needs it. */
export interface AuthorizationMetadata {
  readonly issuer: string;
  /** Undefined where people log in elsewhere only, by the device flow. */
  readonly authorizationEndpoint: string | undefined;
  readonly tokenEndpoint: string;
  readonly registrationEndpoint: string | undefined;
  readonly revocationEndpoint: string | undefined;
  /** RFC 8628. */
  readonly deviceEndpoint: string | undefined;
  /** How clients prove themselves at the token endpoint; empty where it does not say. */
  readonly authMethods: readonly string[];
  readonly scopes: readonly string[];
  readonly takesClientDocuments: boolean;
  /** RFC 9207: every answer in the browser names the issuer. */
  readonly namesIssuer: boolean;
}

export interface AuthorizationServer {
  readonly origin: string;
  readonly metadata: AuthorizationMetadata;
  /** It publishes none: its endpoints are where revision 2025-03-26 puts them. */
  readonly isAssumed: boolean;
}

/** The parameters asked for: RFC 8707's resource (none for servers without metadata), and the scopes. */
export interface Wish {
  /** Exactly as the server's metadata write it: parsed, an address without a path would end in a slash. */
  readonly resource: string | undefined;
  readonly scope: string | undefined;
}
