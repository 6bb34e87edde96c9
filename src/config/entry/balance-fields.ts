import * as v from "valibot";
import { filledText } from "../file/check.ts";
import { breakerRow } from "../rows/instance-rows.ts";
import { boolean, choice, inherited, number, group, other } from "../rows/setting-row.ts";

/** More are a mistake: as many processes of 100 MB fill a machine. */
const mostReplicas = 64;
/** More are the work of a load balancer. */
const mostAddresses = 32;

/** The fields that divide a server's calls among processes and addresses, and keep calls from one that fails. */
export const balanceFields = {
  urls: other({
    fallback: undefined,
    type: `list of addresses, at most ${mostAddresses}`,
    schema: v.pipe(
      v.array(filledText),
      v.minLength(1, "expected an address"),
      v.maxLength(mostAddresses, `expected at most ${mostAddresses} addresses`),
    ) as v.GenericSchema<unknown, readonly string[]>,
    json: { type: "array", items: { type: "string" }, minItems: 1, maxItems: mostAddresses },
    about:
      "in place of `url`, several addresses of one and the same server, among which its calls are divided; only for " +
      "a server that keeps nothing between two calls",
    example: ["https://mcp-1.example.com/mcp", "https://mcp-2.example.com/mcp"],
  }),
  replicas: number({
    fallback: 1,
    min: 1,
    max: mostReplicas,
    about:
      "processes, or connections to each address, among which the server's calls are divided; only for a server that " +
      "keeps nothing between two calls",
    reason: "a process costs 50-100 MB, and many servers do one thing at a time",
    example: 3,
  }),
  breaker: {
    ...inherited(breakerRow, "instances.breaker"),
    fallbackText: "true with several `replicas` or `urls`, otherwise that of `instances.breaker`",
  },
};

/** More say nothing that anyone could keep in mind. */
const mostLabels = 16;
const labelPattern = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,62}$/;
const label = v.pipe(v.string(), v.regex(labelPattern, "expected letters, digits, `.`, `_`, `/` and `-`, at most 63"));

/** Names with values, which nodes have and servers ask for. */
export const labelsRow = (about: string, example: object) =>
  other({
    fallback: {},
    schema: v.pipe(
      v.record(label, label),
      v.check((labels) => Object.keys(labels).length <= mostLabels, `expected at most ${mostLabels} labels`),
    ),
    json: { type: "object", additionalProperties: { type: "string" }, maxProperties: mostLabels },
    type: `object of texts, at most ${mostLabels}`,
    about,
    example,
  });

/** Where a server runs in a cluster. A gateway that is alone reads these fields, and they change nothing. */
export const placeFields = {
  exclusive: boolean({
    fallback: false,
    about:
      "in a cluster, whether its process ends when its node cannot renew its lease, even while the database is away " +
      "for all nodes; for a server that must never run twice",
    reason: "while no node reaches the database none can take over, so that others go on",
  }),
  files: choice({
    choices: ["none", "node", "shared"],
    fallback: undefined,
    fallbackText: "`node` for [servers that are known to keep files](stateful-servers.md#servers-that-keep-files)",
    about:
      "in a cluster, the files of its process: none that it needs again, those of the node that ran it first, where " +
      "it then always runs, or a volume that all nodes have",
    reason: "a server that keeps files and starts at another node finds other files there",
    example: "node",
  }),
  place: group("where the server runs in a cluster; without one it changes nothing", {
    labels: labelsRow("labels that a node must have, in its `cluster.labels`, to run it; others pass its calls on", {
      gpu: "yes",
    }),
    everyNode: boolean({
      fallback: false,
      about:
        "whether each node runs a process of its own, so that no call is passed on; only for a server that keeps " +
        "nothing between two calls",
      reason: "a process costs 50-100 MB at each node, and passing a call on costs little",
    }),
  }),
};
