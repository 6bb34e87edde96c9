import { workerData } from "node:worker_threads";
import { requireBuild } from "../kernel/runtime/late-module.ts";
import type { LateCheck, LateModule } from "../kernel/runtime/late-module.ts";
import { storeBackend } from "../store/files/store-backend.ts";

// The entry of a worker thread that loads a module before the gateway does, because Node remembers a failed import
// for as long as the thread lives. Ends without an error when the module and all it imports are there.
const { what, buildId } = workerData as LateCheck;
requireBuild(buildId);

const loads: Readonly<Record<LateModule, () => Promise<unknown>>> = {
  rest: async () => await Promise.all([import("./fronts/rest-front.ts"), storeBackend.late.rest()]),
  search: async () =>
    await Promise.all([
      import("../catalog/search/language.ts"),
      import("../catalog/search/language/phrase-book.ts"),
      import("../catalog/search/language/phrase-texts.ts"),
      import("../catalog/discovery/lexical.ts"),
      import("../catalog/discovery/memory-of-use.ts"),
      import("../catalog/discovery/meaning/embeddings.ts"),
      import("../catalog/discovery/phrases/enrichment.ts"),
      import("../catalog/discovery/phrases/endpoint-writer.ts"),
      import("../catalog/discovery/fuse.ts"),
      storeBackend.late.search(),
    ]),
  logins: async () => await Promise.all([import("../servers/logins/logins.ts"), storeBackend.late.logins()]),
  http: async () => await import("../servers/upstream/remote/connect-http.ts"),
  records: storeBackend.late.records,
  "people-site": async () => {
    const { loadLibrary } = await import("../people/authorization-server/oauth/library.ts");
    const { loadProviderLibrary } = await import("../people/sign-in/provider-library.ts");
    await Promise.all([import("./people/people-front.ts"), loadLibrary(), loadProviderLibrary()]);
  },
  "foreign-tokens": async () =>
    await Promise.all([import("../people/identity/foreign-tokens.ts"), import("../people/identity/assertions.ts")]),
  team: async () => await import("./people/team-people.ts"),
  machine: async () => await import("../operations/machine/machine.ts"),
  traces: async () => await import("../records/telemetry/traces.ts"),
  "http-route": async () => await import("../wire/http/undici-client.ts"),
  "live-events": async () =>
    await Promise.all([import("../records/events/live-events.ts"), import("../records/events/event-json.ts")]),
  webhooks: async () =>
    await Promise.all([import("../records/events/webhooks.ts"), import("../records/events/event-json.ts")]),
};
await loads[what]();
