import { ownersWay, type RestAnswer } from "../../src/cli/gateway/rest-way.ts";
import { locksIn } from "./places.ts";

/** A request through the door of the data directory's owner, to the only gateway that runs with it. */
export async function askOwner(dataDir: string, method: string, path: string, body?: object): Promise<RestAnswer> {
  const [holder] = locksIn(dataDir);
  if (holder === undefined) throw new Error(`no gateway runs with ${dataDir}`);
  const headers = method === "GET" ? {} : { "content-type": "application/json" };
  const given = body === undefined ? {} : { body: JSON.stringify(body) };
  return await ownersWay(holder).send({ method: method as "GET", path, headers, ...given });
}
