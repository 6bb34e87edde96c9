import { createTestStore, entryOf, requestOf, whenOpened } from "../../harness/records.ts";

// Records and audits into the folder of its first argument, with the worker of its second, until it is killed, and
// says what it was told is kept.
const [folder = "", worker = ""] = process.argv.slice(2);
const store = await whenOpened(createTestStore(folder, { workerFile: new URL(worker), limits: { batchMs: 50 } }));
for (;;) {
  for (let at = 0; at < 50; at += 1) store.append("request", requestOf(store));
  const { seq } = await store.audit(entryOf());
  process.stdout.write(`audit ${seq} appended ${store.figures().writtenRows}\n`);
}
