import { tmpdir } from "node:os";
import { loadDriver } from "../../../src/store/sql/sqlite/sql-driver.ts";
import { createTestStore, entryOf, requestOf, whenOpened } from "../../harness/records.ts";

// Writes into the folder of its first argument, with the worker of its second, reads it again, and says what it found.
const [folder = "", worker = ""] = process.argv.slice(2);
const store = await whenOpened(createTestStore(folder, { workerFile: new URL(worker) }));
for (let at = 0; at < 100; at += 1) store.append("request", requestOf(store, { name: `t:${at}` }));
await store.flush();
await store.audit(entryOf());
const calls = (await store.calls({ limit: 1_000 })).rows.length;
const { kind } = await store.verifyAudit();
const { status } = store.health();
await store.close(10_000);
const { name } = loadDriver(tmpdir());
process.stdout.write(JSON.stringify({ driver: name, status, calls, kind, after: store.health().status }));
