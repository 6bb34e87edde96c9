import { canaryOf, colours, type Ask, type Credential, type Known } from "./isolation-steps.ts";

export interface OpenedSession extends Credential {
  readonly what: string;
}

/** An MCP session for each token; clients name themselves with their team's mark. */
export async function openSessions(ask: Ask, known: Known): Promise<readonly OpenedSession[]> {
  const opened: OpenedSession[] = [];
  for (const colour of colours)
    for (const { headers } of known.credentials[colour].filter(({ headers: one }) => "authorization" in one)) {
      const clientInfo = { name: canaryOf(colour), version: "1" };
      const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
      const body = { jsonrpc: "2.0", id: 1, method: "initialize", params };
      const { session, text } = await ask({ method: "POST", path: "/mcp", headers, body });
      if (session === undefined) throw new Error(text);
      known.ids[colour].sessions.push(session);
      known.lasting.add(session);
      opened.push({
        headers: { ...headers, "mcp-session-id": session },
        isOfBoth: false,
        what: `session of ${colour}`,
      });
    }
  return opened;
}

/** Every token and browser that was made in the beginning, and every session: each must still be good. */
export async function lostOf(ask: Ask, known: Known, opened: readonly OpenedSession[]): Promise<readonly string[]> {
  const lost: string[] = [];
  const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
  for (const { headers, what } of opened) {
    const { status, text } = await ask({ method: "POST", path: "/mcp", headers, body: ping });
    if (status !== 200) lost.push(`${what}: ${text}`);
  }
  for (const colour of colours)
    for (const { headers } of known.credentials[colour]) {
      const { status, text } = await ask({ method: "GET", path: "/api/me", headers });
      if (status !== 200) lost.push(`credential of ${colour}: ${text}`);
    }
  return lost;
}
