import { api, valueOf } from "./client.ts";

/**
 * The way back from a change of the configuration file that was just made: the text of before is saved again, unless
 * the file was changed once more since.
 */
export function configUndo(): () => Promise<unknown> {
  const known = Promise.all([valueOf(api.GET("/api/config")), valueOf(api.GET("/api/config/previous"))]);
  known.catch(() => undefined);
  return async () => {
    const [{ etag }, { text }] = await known;
    if (text === null) throw new Error("the file of before was not kept");
    return await valueOf(api.PUT("/api/config", { params: { header: { "If-Match": etag } }, body: { text } }));
  };
}
