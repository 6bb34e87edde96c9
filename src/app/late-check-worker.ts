import { workerData } from "node:worker_threads";
import { requireBuild } from "../shared/build-id.ts";
import type { LateModule } from "../shared/late-module.ts";

/** What the worker is given. */
export interface LateCheck {
  readonly what: LateModule;
  readonly buildId: string;
}

// The entry of a worker thread that loads what the gateway wants to load, before the gateway does: Node remembers an import that failed for
// as long as the thread lives. It ends without an error when everything is there.
const { what, buildId } = workerData as LateCheck;
requireBuild(buildId);

const loads: Readonly<Record<LateModule, () => Promise<unknown>>> = {
  rest: async () => await import("./rest.ts"),
  "front-page": async () => await import("./front-page.ts"),
  metrics: async () => await import("prom-client"),
  search: async () =>
    await Promise.all([
      import("../catalog/search/language.ts"),
      import("../discovery/lexical.ts"),
      import("../discovery/memory-of-use.ts"),
      import("../store/learned-file.ts"),
      import("../discovery/embeddings.ts"),
      import("../store/vector-file.ts"),
      import("../discovery/fuse.ts"),
    ]),
  logins: async () => await Promise.all([import("../identity/oauth/logins.ts"), import("../store/token-vault.ts")]),
  http: async () => await import("../upstream/http/connect-http.ts"),
};
await loads[what]();
