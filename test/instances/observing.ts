import { readFileSync } from "node:fs";
import { isAlive, parentOf } from "../processes/survivors.ts";
import { readdirSync } from "node:fs";
import { rpc } from "../harness/rpc.ts";

/** Pids of server processes that wrote themselves into a file of `--write-pid`, in the order of their starts. */
export function startsIn(file: string): readonly number[] {
  return linesOf(file)
    .filter((line) => line.endsWith(" server"))
    .map((line) => Number.parseInt(line, 10));
}

/** All pids of such a file, of children too. */
export function pidsIn(file: string): readonly number[] {
  return linesOf(file).map((line) => Number.parseInt(line, 10));
}

export function aliveIn(file: string): readonly number[] {
  return pidsIn(file).filter((pid) => isAlive(pid));
}

function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, "utf8").trim().split("\n").filter(Boolean);
  } catch {
    return [];
  }
}

/** Living children of a process, by /proc. */
export function childrenOf(pid: number | undefined): readonly number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((candidate) => candidate > 0 && isAlive(candidate) && parentOf(candidate) === pid);
}

/** What discover_mcp_tools answers. */
// oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came back
export async function discover(
  url: string,
  args: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<any> {
  const answer = await rpc(`${url}/mcp`, "tools/call", { name: "discover_mcp_tools", arguments: args }, headers);
  return JSON.parse(answer.json.result.content[0].text);
}

/** How a server stands, as the empty query lists it. */
// oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came back
export async function standingOf(
  url: string,
  server: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<any> {
  const answer = await discover(url, { query: "" }, headers);
  return answer.servers.find(
    (entry: { server_name?: string; server?: string }) => (entry.server_name ?? entry.server) === server,
  );
}
