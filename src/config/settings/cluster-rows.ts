import * as v from "valibot";
import { filledText } from "../file/check.ts";
import { labelsRow } from "../entry/balance-fields.ts";
import { number, text } from "../rows/setting-row.ts";

const hostPort = v.pipe(
  filledText,
  v.regex(/^(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+):\d{1,5}$/, "expected a host and a port, such as `10.0.0.5:7300`"),
  v.check((written) => Number(written.slice(written.lastIndexOf(":") + 1)) <= 65_535, "expected a port up to 65535"),
);

const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

/** The settings of a gateway that is one of several nodes. */
export const clusterRows = {
  node: text({
    fallback: undefined,
    fallbackText: "the machine's name",
    schema: v.pipe(v.string(), v.regex(namePattern, "expected letters, digits, `.`, `_` and `-`, at most 63")),
    pattern: namePattern,
    about: "the name of this node, which no other has",
    example: "yard-1",
    isReadAtStart: true,
  }),
  listen: text({
    fallback: "0.0.0.0:7300",
    schema: hostPort,
    type: "host and port",
    example: "10.0.0.5:7300",
    about: "where other nodes connect to; the port 0 is one that the system chooses",
    reason: "nodes know each other by a key that is made from the gateway's, and everything is encrypted",
    isReadAtStart: true,
  }),
  advertise: text({
    fallback: undefined,
    fallbackText: "this machine's first address, and the port of `listen`",
    schema: hostPort,
    type: "host and port",
    about: "the address by which other nodes reach this one, where it differs",
    example: "10.0.0.5:7300",
    isReadAtStart: true,
  }),
  leaseMs: number({
    fallback: 5_000,
    min: 1_000,
    max: 60_000,
    about: "milliseconds after which others take over from a node of which nothing is heard",
    reason: "a crash is noticed at once, by a refused connection; this is for hosts and networks that fall silent",
    isReadAtStart: true,
  }),
  labels: {
    ...labelsRow("labels of this node, for servers that ask for them with `place.labels`", { site: "berlin" }),
    isReadAtStart: true,
  },
};
