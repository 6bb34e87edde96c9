import type { IncomingMessage, ServerResponse } from "node:http";

/** What we use of the authorization server's library, which has no types. */

export type Payload = Record<string, unknown>;

/** Where the library keeps what it gives out: one for each kind of thing. */
export interface LibraryAdapter {
  upsert(id: string, payload: Payload, expiresIn?: number): Promise<void>;
  find(id: string): Promise<Payload | undefined>;
  findByUserCode(userCode: string): Promise<Payload | undefined>;
  findByUid(uid: string): Promise<Payload | undefined>;
  consume(id: string): Promise<void>;
  destroy(id: string): Promise<void>;
  revokeByGrantId(grantId: string): Promise<void>;
}

export interface LibraryClient {
  readonly clientId: string;
  readonly clientName?: string;
  readonly clientUri?: string;
  readonly clientAuthMethod?: string;
  readonly redirectUris?: readonly string[];
  grantTypeAllowed(type: string): boolean;
}

/** A request as the library sees it. */
export interface LibraryContext {
  readonly req: IncomingMessage;
  readonly path: string;
  body: unknown;
  type: string;
  status: number;
  set(headers: Readonly<Record<string, string>>): void;
  readonly oidc: {
    readonly client?: LibraryClient;
    readonly route: string;
    readonly params?: Readonly<Record<string, unknown>>;
    readonly result?: { readonly login?: unknown; readonly consent?: unknown };
    urlFor(name: string): string;
  };
}

export interface LibraryGrant {
  addResourceScope(resource: string, scope: string): void;
  save(): Promise<string>;
}

export interface LibraryAccessToken {
  resourceServer: object;
  scope: string;
  readonly expiration: number;
  readonly tokenType: string;
  /** Resolves with the token itself. */
  save(): Promise<string>;
}

/** An authorization that waits for a person. */
export interface Interaction {
  readonly uid: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly prompt: { readonly name: string };
  readonly deviceCode?: string;
}

export interface LibraryProvider {
  readonly Client: {
    find(id: string): Promise<LibraryClient | undefined>;
    readonly prototype: object;
  };
  readonly AccessToken: new (about: {
    readonly client: LibraryClient;
    readonly accountId: string;
    readonly grantId: string;
    readonly gty: string;
  }) => LibraryAccessToken;
  readonly ResourceServer: new (url: string, about: object) => object;
  readonly Grant: new (about: {
    readonly jti: string;
    readonly accountId: string;
    readonly clientId: string;
  }) => LibraryGrant;
  proxy: boolean;
  /** Another way to get a token: the handler sets the body, or throws one of the library's errors. */
  registerGrantType(
    type: string,
    handler: (context: LibraryContext) => Promise<void>,
    parameters: readonly string[],
  ): void;
  callback(): (request: IncomingMessage, response: ServerResponse) => void;
  interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>;
  /** Returns the URL where the authorization goes on. */
  interactionResult(request: IncomingMessage, response: ServerResponse, result: object): Promise<string>;
  use(middleware: (context: LibraryContext, next: () => Promise<void>) => Promise<void>): void;
  on(event: string, listener: (context: LibraryContext, error: unknown) => void): void;
}

interface Prompt {
  readonly name: string;
}

export interface Library {
  readonly Provider: (new (issuer: string, configuration: object) => LibraryProvider) & {
    /** The request that is being answered. */
    readonly ctx: LibraryContext | undefined;
  };
  readonly interactionPolicy: {
    readonly Prompt: new (about: { readonly name: string; readonly requestable: boolean }, check: object) => Prompt;
    readonly Check: new (
      reason: string,
      description: string,
      error: string,
      check: (context: LibraryContext) => boolean,
    ) => object;
  };
  readonly errors: {
    readonly InvalidGrant: new (message: string) => Error;
    readonly InvalidTarget: new () => Error;
    readonly InvalidClientMetadata: new (message: string) => Error;
    readonly InvalidScope: new (message: string, scope: string) => Error;
    readonly UnsupportedGrantType: new () => Error;
  };
}

/** Loaded when somebody logs in with an app for the first time. */
export async function loadLibrary(): Promise<Library> {
  // @ts-expect-error the package has no types
  return (await import("oidc-provider")) as Library;
}
