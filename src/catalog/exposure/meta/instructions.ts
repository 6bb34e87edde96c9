import type { View, ViewServer } from "../../model/view.ts";
import { estimateTokens } from "../text/token-estimate.ts";
import { visibleText } from "../text/visible-text.ts";

/** Upper limit of the instructions that a client's model gets when it connects. */
const instructionTokens = 300;
const lineCharacters = 80;

/** Tells the model which servers exist: as many lines as fit, then the number of those left out. */
export function describeServers(view: View, opening: string): string {
  const usable = view.servers.filter((server) => server.status !== "disabled");
  const lines = [opening];
  let tokens = estimateTokens(opening) + 12;
  let told = 0;
  for (const server of usable) {
    const line = describe(server);
    const cost = estimateTokens(line) + 1;
    if (tokens + cost > instructionTokens) break;
    tokens += cost;
    lines.push(line);
    told += 1;
  }
  if (told < usable.length) lines.push(`- and ${usable.length - told} more servers`);
  return lines.join("\n");
}

function describe(server: ViewServer): string {
  const about = server.catalog?.instructions ?? server.category ?? "";
  const first = visibleText(about).text.split(/[\n.]/, 1)[0]?.trim() ?? "";
  const title = server.title === server.slug ? "" : ` (${visibleText(server.title).text.slice(0, 40)})`;
  return `- ${server.slug}${title}${first === "" ? "" : `: ${first.slice(0, lineCharacters)}`}`;
}
