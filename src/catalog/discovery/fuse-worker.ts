import { parentPort, workerData } from "node:worker_threads";

import Fuse from "fuse.js";

import { requireBuild } from "../../kernel/runtime/late-module.ts";
import type { FuseJob, FuseResult } from "./fuse.ts";

const { query, limit, records, buildId } = workerData as FuseJob;
requireBuild(buildId);

const fuse = new Fuse(records, {
  threshold: 0.3,
  keys: [
    { name: "toolName", weight: 0.4 },
    { name: "description", weight: 0.35 },
    { name: "serverName", weight: 0.25 },
  ],
  includeScore: true,
  minMatchCharLength: 2,
  useExtendedSearch: true,
});

const matches = fuse.search(query);
const found = matches.slice(0, limit).map(({ refIndex, score }) => ({ at: refIndex, score: score ?? 1 }));
parentPort?.postMessage({ found, total: matches.length } satisfies FuseResult, []);
