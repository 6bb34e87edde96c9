/** Words of server cards (SEP-2127, `docs/discovery.md` of its repository, July 2026). */

/** The path appended to the URL of a Streamable HTTP endpoint for its card. */
export const cardPathEnd = "/server-card";
export const cardType = "application/mcp-server-card+json";
export const cardSchema = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json";
