import { workerData } from "node:worker_threads";
import { requireBuild } from "../kernel/build-id.ts";
import type { LateCheck, LateModule } from "../kernel/late-module.ts";
import { storeBackend } from "./store-backend.ts";

// The entry of a worker thread that loads a module before the gateway does, because Node remembers a failed import
// for as long as the thread lives. Ends without an error when the module and all it imports are there.
const { what, buildId } = workerData as LateCheck;
requireBuild(buildId);

const loads: Readonly<Record<LateModule, () => Promise<unknown>>> = {
  rest: async () => await Promise.all([import("./rest-front.ts"), storeBackend.late.rest()]),
  everyday: async () => await import("./rest-front.ts"),
  search: async () =>
    await Promise.all([
      import("../catalog/search/language.ts"),
      import("../catalog/search/phrase-book.ts"),
      import("../catalog/search/phrase-texts.ts"),
      import("../catalog/discovery/lexical.ts"),
      import("../catalog/discovery/memory-of-use.ts"),
      import("../catalog/discovery/embeddings.ts"),
      import("../catalog/discovery/enrichment.ts"),
      import("../catalog/discovery/endpoint-writer.ts"),
      import("../catalog/discovery/client-writer.ts"),
      import("../catalog/discovery/fuse.ts"),
      storeBackend.late.search(),
    ]),
  logins: async () => await Promise.all([import("../servers/logins/logins.ts"), storeBackend.late.logins()]),
  http: async () => await import("../servers/upstream/remote/connect-http.ts"),
  records: storeBackend.late.records,
  "people-site": async () => {
    const { loadLibrary } = await import("../people/authorization-server/library.ts");
    const { loadProviderLibrary } = await import("../people/sign-in/provider-library.ts");
    await Promise.all([import("./people-front.ts"), loadLibrary(), loadProviderLibrary()]);
  },
  "foreign-tokens": async () =>
    await Promise.all([import("../people/identity/foreign-tokens.ts"), import("../people/identity/assertions.ts")]),
  team: async () => await import("./team-people.ts"),
  traces: async () => await import("../records/traces.ts"),
  "http-route": async () => await import("../wire/http/undici-client.ts"),
  "live-events": async () =>
    await Promise.all([import("../records/live-events.ts"), import("../records/event-json.ts")]),
  webhooks: async () => await Promise.all([import("../records/webhooks.ts"), import("../records/event-json.ts")]),
};
await loads[what]();
