import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { callbackUrl } from "./app-client.ts";

/** What an app keeps between two of its processes. */
export interface KeptFile {
  client: unknown;
  tokens: StoredOAuthTokens | undefined;
}

/** How an app with one of the official SDKs keeps its login, and asks for one. Either SDK takes it. */
export interface KeptLogin {
  readonly file: KeptFile;
  /** Where the app has sent its person. */
  readonly asked: readonly URL[];
  readonly provider: OAuthClientProvider;
}

export function createKeptLogin(file: KeptFile = { client: undefined, tokens: undefined }): KeptLogin {
  const asked: URL[] = [];
  let verifier = "";
  let discovered: OAuthDiscoveryState | undefined;
  const clientMetadata: OAuthClientMetadata = {
    client_name: "An app with the SDK",
    redirect_uris: [callbackUrl],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  };
  const provider: OAuthClientProvider = {
    redirectUrl: callbackUrl,
    clientMetadata,
    state: () => "a state of the app",
    clientInformation: () => file.client as never,
    saveClientInformation: (client) => void (file.client = client),
    tokens: () => file.tokens,
    saveTokens: (tokens) => void (file.tokens = tokens),
    redirectToAuthorization: (url) => void asked.push(url),
    saveCodeVerifier: (given) => void (verifier = given),
    codeVerifier: () => verifier,
    saveDiscoveryState: (state) => void (discovered = state),
    discoveryState: () => discovered,
    invalidateCredentials(what) {
      if (what !== "verifier") file.tokens = undefined;
      if (what === "all" || what === "client") file.client = undefined;
    },
  };
  return { file, asked, provider };
}

/** Another process of the same app, which has read the file while its access token was already too old. */
export function createNextProcess({ file }: Pick<KeptLogin, "file">): KeptLogin {
  const { tokens } = file;
  return createKeptLogin({ ...file, tokens: tokens && { ...tokens, access_token: "too-old" } });
}
