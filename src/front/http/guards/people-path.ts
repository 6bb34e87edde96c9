/** Whether a path is one of people's pages, or of OAuth; everything else is not asked here. */
export function isPeoplePath(path: string): boolean {
  return (
    path.startsWith("/auth/") ||
    path.startsWith("/oauth/") ||
    path.startsWith("/connect/") ||
    path.startsWith("/invite/") ||
    path === "/setup" ||
    path === "/account" ||
    path === "/connect" ||
    path.startsWith("/.well-known/oauth-authorization-server") ||
    path.startsWith("/.well-known/openid-configuration")
  );
}
