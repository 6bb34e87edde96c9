import { existsSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { fileURLToPath } from "node:url";
import { answerFrontPage, type FrontPageFacts } from "../../front/web/pages/front-page.ts";
import type { GatewayParts } from "../gateway-parts.ts";
import { readOverview } from "../records/status-report.ts";

/** Absent where only the program was built. */
const dashboardPage = fileURLToPath(new URL("../web/index.html.br", import.meta.url));

type Shown = Pick<
  GatewayParts,
  "version" | "authenticator" | "publicUrl" | "viewOf" | "owner" | "mcp" | "usage" | "discovery"
>;

/**
 * Answers `GET /`; browsers are sent to the dashboard. Loaded at the start although it is needed later: it is small,
 * and the code that it shares with other parts would be six files more. Shows counts only where no authentication is
 * required.
 */
export async function showFrontPage(gateway: Shown, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if ((request.headers.accept ?? "").includes("text/html") && existsSync(dashboardPage)) {
    const headers = { Location: `${gateway.publicUrl(request)}/ui/`, "Cache-Control": "no-store", Vary: "Accept" };
    response.writeHead(302, headers).end();
    return;
  }
  const needsToken = !gateway.authenticator.open;
  const overview = needsToken ? undefined : await readOverview(gateway);
  answerFrontPage(request, response, {
    version: gateway.version,
    url: gateway.publicUrl(request),
    needsToken,
    servers: needsToken ? undefined : countServers(gateway),
    tokens: overview && {
      here: overview.tokensHere,
      flat: overview.tokensFlat,
      isExact: overview.areTokensExact,
    },
  });
}

function countServers(gateway: Shown): NonNullable<FrontPageFacts["servers"]> {
  const { servers } = gateway.viewOf(gateway.owner);
  const usable = servers.filter((server) => server.status === "online");
  return {
    all: servers.length,
    usable: usable.length,
    tools: usable.reduce((sum, server) => sum + server.tools.length, 0),
  };
}
