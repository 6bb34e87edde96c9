/**
 * Whether a credential for the resource `audience` opens `path` of the gateway at `base`: its own path only, with
 * the one that an SSE endpoint has its messages sent to; everything for the gateway itself, and MCP and REST for
 * `/mcp`, which is what clients ask for. Called for every request, so nothing is put together here.
 */
export function reaches(audience: string, base: string, path: string): boolean {
  if (!audience.startsWith(base)) return false;
  const rest = audience.length - base.length;
  if (rest === 0) return isOpenToAll(path);
  if (rest === 4 && audience.endsWith("/mcp")) return isOpenToAll(path);
  if (rest === path.length) return audience.endsWith(path);
  return rest + messages.length === path.length && isMessagePath(path) && path.startsWith(audience.slice(-rest));
}

/** Behind the path of an SSE endpoint: no client asks for a token for it, because only the open stream names it. */
const messages = "/messages";

function isMessagePath(path: string): boolean {
  return path.endsWith(messages) && (path.startsWith("/sse/") || path.endsWith(`/sse${messages}`));
}

/** The endpoint of one instance is entered with a token for that one. */
function isOpenToAll(path: string): boolean {
  return !path.startsWith("/i/");
}
