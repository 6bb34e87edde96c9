import { join } from "node:path";

export const marks = {
  reads: "its sandbox reads wide or private folders",
  writes: "its sandbox writes wide or private folders",
  reaches: "its sandbox reaches this machine or private networks",
  without: "runs without a sandbox",
} as const;
const { reads, writes, reaches, without } = marks;

/** What somebody else's entries say, with how each is marked where the configuration says `auto`. */
export const sandboxes: Readonly<Record<string, readonly [sandbox: unknown, mark: string | undefined]>> = {
  plain: [undefined, undefined],
  tight: [{ read: ["~/notes"], write: ["~/notes/out"], network: ["api.example.com"] }, undefined],
  off: [false, without],
  root: [{ read: ["/"] }, reads],
  homes: [{ read: ["~"] }, reads],
  keys: [{ read: ["~/.ssh"] }, reads],
  climbs: [{ read: ["../../../.."] }, reads],
  unknown: [{ read: ["${SOMEWHERE}"] }, reads],
  socket: [{ read: ["/run/docker.sock"] }, reads],
  writing: [{ write: ["~"] }, writes],
  machine: [{ network: "host" }, reaches],
  local: [{ network: ["localhost:5432"] }, reaches],
};
export const loosened = Object.entries(sandboxes).filter(([, [, mark]]) => mark !== undefined);
export const unmarked = Object.keys(sandboxes).filter((name) => sandboxes[name]?.[1] === undefined);

/** A client's servers with these sandboxes; their program is `server.mjs` of the home. */
export function serversOf(home: string, names: readonly string[] = Object.keys(sandboxes)): Record<string, object> {
  // Each is another program: the same one would be one server.
  return Object.fromEntries(
    names.map((name) => {
      const sandbox = sandboxes[name]?.[0];
      const entry = { command: "node", args: [join(home, "server.mjs"), name] };
      return [name, sandbox === undefined ? entry : { ...entry, sandbox }];
    }),
  );
}
