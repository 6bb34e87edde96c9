type Metadata = Readonly<Record<string, unknown>>;

const grantTypes = [
  "authorization_code",
  "refresh_token",
  "urn:ietf:params:oauth:grant-type:device_code",
  "urn:ietf:params:oauth:grant-type:jwt-bearer",
];
const kept = [
  "client_id",
  "client_name",
  "client_uri",
  "logo_uri",
  "policy_uri",
  "tos_uri",
  "redirect_uris",
  "token_endpoint_auth_method",
];
const authMethods = ["none", "client_secret_basic", "client_secret_post"];

/**
 * What a client says of itself, as the library takes it. Clients ask for more than they need, and leave out what the
 * library decides by:
 *
 * - VS Code names grants that we may not have, and Claude Code's document names none: what we have is kept;
 * - Cursor registers a scheme of its own, a page, and this machine at once, without a type: whatever comes back to
 *   this machine is an application on it, whose port may be another each time (RFC 8252, section 7.3). So is every
 *   other address without https: of applications the library takes http on this machine alone;
 * - members about keys, scopes, logging out and much else are not used, and would only be refused.
 */
export function normalizeClient(given: Metadata): Metadata {
  const uris = Array.isArray(given["redirect_uris"]) ? (given["redirect_uris"] as unknown[]) : [];
  const asked = Array.isArray(given["grant_types"]) ? (given["grant_types"] as unknown[]) : [];
  const method = given["token_endpoint_auth_method"];
  return {
    ...Object.fromEntries(kept.filter((name) => given[name] !== undefined).map((name) => [name, given[name]])),
    application_type: uris.every(isPage) ? "web" : "native",
    // Every client renews: one that does not ask for it would log in every hour.
    grant_types: [
      ...new Set(["authorization_code", "refresh_token", ...grantTypes.filter((type) => asked.includes(type))]),
    ],
    response_types: ["code"],
    token_endpoint_auth_method: typeof method === "string" && authMethods.includes(method) ? method : "none",
  };
}

/** Schemes that apps have of their own although they are no domain turned round (RFC 8252, section 7.1). */
const appSchemes: ReadonlySet<string> = new Set(
  "antigravity,claude,cline,cursor,kiro,lmstudio,qoder,trae,vscode,vscode-insiders,vscodium,warp,windsurf,zed".split(
    ",",
  ),
);

/** Two parsers read what has these characters in two ways. */
const isOdd = /[\s\p{C}\\#]/u;

/**
 * Whether a browser may be sent there with a code: a page over https, this machine over http, or a scheme of an app.
 * Other schemes mean something to browsers and systems: they run, open or send what comes after them. A person who
 * reads `https://bank.example@evil.example/` takes it for the bank's.
 */
export function isRedirect(uri: string): boolean {
  if (uri.length > longestRedirect || isOdd.test(uri) || !URL.canParse(uri)) return false;
  const { protocol, hostname, username, password } = new URL(uri);
  if (username !== "" || password !== "") return false;
  const scheme = protocol.slice(0, -1);
  if (scheme === "https") return true;
  if (scheme === "http") return ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
  return appSchemes.has(scheme) || /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+$/.test(scheme);
}

/** Beyond it, browsers cut addresses. */
const longestRedirect = 2_000;

/** A value that is no URL is left for the library to refuse. */
function isPage(uri: unknown): boolean {
  return typeof uri !== "string" || !URL.canParse(uri) || new URL(uri).protocol === "https:";
}

/**
 * Documents of clients that many people have (client ID metadata documents), for a gateway that cannot reach the
 * Internet. These were seen of the clients themselves, as npm has them: Claude Code 2.1.330 and Codex 0.169.0 name
 * these documents, and come back to these addresses with a port of their choice. Of clients that cannot be tried
 * nothing is made up: they register.
 */
export const knownDocuments: Readonly<Record<string, Metadata>> = Object.freeze({
  "https://claude.ai/oauth/claude-code-client-metadata": {
    client_name: "Claude Code",
    redirect_uris: ["http://localhost/callback"],
  },
  "https://chatgpt.com/oauth/codex/client.json": {
    client_name: "Codex",
    redirect_uris: ["http://127.0.0.1/callback"],
  },
});
