import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { sampleInstance } from "../../../test/sample-catalog.ts";
import { sampleStanding } from "../../../test/sample-view.ts";
import { until } from "../../../test/harness/until.ts";
import type { InstanceCatalog } from "./snapshot.ts";
import { localPrincipal } from "../../kernel/principal.ts";
import { createViewBodies, type ViewBody } from "./view-body.ts";

test("neither a view nor its names keep the list before it: a server may change its list every second", async () => {
  setFlagsFromString("--expose_gc");
  const collect = runInNewContext("gc") as () => void;
  let catalog: InstanceCatalog = sampleInstance("a", [{ name: "t" }]);
  const standing = sampleStanding("a");
  const source = { versionOf: () => 0, statusViews: () => [standing], catalogOf: () => catalog };
  const bodies = createViewBodies(source, () => true);
  const seen: WeakRef<ViewBody>[] = [];
  const lists: WeakRef<object>[] = [];
  let latest: ViewBody | undefined;
  for (let version = 0; version < 5; version += 1) {
    catalog = sampleInstance("a", [{ name: `t${version}` }]);
    latest = bodies.build(localPrincipal, latest, undefined);
    expect(latest.names().find(`a:t${version}`).kind).toBe("one");
    seen.push(new WeakRef(latest));
    lists.push(new WeakRef(catalog.tools[0] as object));
  }
  await until(() => {
    collect();
    return [...seen.slice(0, -1), ...lists.slice(0, -1)].every((one) => one.deref() === undefined);
  });
  expect(seen.at(-1)?.deref()).toBe(latest);
});
