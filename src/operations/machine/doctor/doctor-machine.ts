import { createServer } from "node:net";
import type { Config } from "../../../config/config.ts";
import { hasProcess } from "../../../config/entry/transports.ts";
import type { SandboxMode } from "../../../config/rows/sandbox-rows.ts";
import type { Environment } from "../../../servers/process/child-environment.ts";
import { apparmorProfile } from "../../../servers/sandbox/bubblewrap.ts";
import type { NoEngine } from "../../../servers/sandbox/confined-parts.ts";
import { engineOf, probeEngine } from "../../../servers/sandbox/confine.ts";
import { broken, doubtful, fine, type Finding } from "./doctor-finding.ts";

/** `engines` of package.json; a test compares the two. */
export const oldestNode: readonly [number, number] = [20, 19];

/** Whether this Node can run the program. */
export function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isEnough = major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1]);
  if (isEnough) return fine(`Node ${version}`);
  return broken(`Node ${version} is too old`, `Install Node ${oldestNode.join(".")} or newer.`);
}

/** Whether a gateway could listen where the configuration says. Only asked while ours does not run. */
export async function checkPort({ settings: { host, port } }: Pick<Config, "settings">): Promise<Finding> {
  const code = await new Promise<string | undefined>((resolve) => {
    const probe = createServer();
    probe.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(undefined)));
  });
  const place = `port ${port} of ${host}`;
  switch (code) {
    case undefined:
      return fine(`${place} is free`);
    case "EADDRINUSE":
      return broken(`${place} is taken by another program`, "Stop that program, or choose another port with --port.");
    case "EACCES":
      return broken(`${place} is not for you`, "Choose a port above 1023 with --port.");
    default:
      return broken(`${place} cannot be used (${code})`, "Choose an address of this machine with --host.");
  }
}

/** Whether servers can run in sandboxes here, with each engine; empty where none is meant to and no one can. */
export async function checkSandbox(
  { settings, servers }: Pick<Config, "settings" | "servers">,
  environment: Environment,
): Promise<readonly Finding[]> {
  const wanting = servers.flatMap(({ slug, transport }) =>
    hasProcess(transport) && transport.sandbox !== undefined ? [{ slug, rules: transport.sandbox }] : [],
  );
  const usual = engineOf(settings.sandbox);
  const isWanted = (kind: EngineKind): boolean => wanting.some(({ rules }) => engineOf(rules) === kind);
  const probed = await Promise.all(
    engineKinds.map(async (kind) => ({ kind, found: await probeEngine(kind, environment) })),
  );
  const main = probed.flatMap(({ kind, found }): readonly Finding[] => {
    if (kind !== usual && !isWanted(kind)) return [];
    if ("why" in found) return [toUnavailable(found, isWanted(kind) ? "require" : settings.sandbox.mode)];
    const lacking = wanting.flatMap(({ slug, rules }): readonly Finding[] => {
      const lack = engineOf(rules) === kind ? found.lacks(rules) : undefined;
      return lack === undefined ? [] : [broken(`${slug} cannot run in its sandbox: ${lack.why}`, lack.hint)];
    });
    return [fine(`servers can run in sandboxes (${found.name})`), ...lacking];
  });
  const others = probed.filter(({ kind }) => kind !== usual && !isWanted(kind));
  const told = others.map(({ found }) => ("why" in found ? found.why : `${found.name} works`));
  return [...main, fine(`other engines of sandboxes: ${told.join("; ")}`)];
}

const engineKinds = ["bubblewrap", "podman", "docker", "seatbelt"] as const;

type EngineKind = (typeof engineKinds)[number];

function toUnavailable({ why, hint }: NoEngine, mode: SandboxMode): Finding {
  const todo = hint.includes("AppArmor") ? `${hint}\n${apparmorAdvice}` : hint;
  const what = `servers cannot run in sandboxes: ${why}`;
  if (mode === "off") return fine(hint.includes("AppArmor") ? `${what}. ${todo}` : what);
  return mode === "require" ? broken(what, todo) : doubtful(what, todo);
}

const apparmorAdvice = `Write this to /etc/apparmor.d/bwrap and run \`apparmor_parser -r /etc/apparmor.d/bwrap\`:
${apparmorProfile}`;

/** Certificates, logins and tokens are judged by the clock. */
const mostSkewMs = 60_000;

/** Compares the clock with what servers say: `Date` has whole seconds, and the answer took a while. */
export function checkClock(
  seen: readonly { readonly date: string | null; readonly atMs: number }[],
): Finding | undefined {
  const skews = seen.flatMap(({ date, atMs }) => {
    const said = date === null ? Number.NaN : Date.parse(date);
    return Number.isNaN(said) ? [] : [atMs - said];
  });
  // One server with a wrong clock is not this machine's fault.
  const middle = skews.toSorted((one, other) => one - other)[Math.floor(skews.length / 2)];
  if (middle === undefined) return undefined;
  if (Math.abs(middle) <= mostSkewMs) return fine("the clock agrees with that of the servers");
  const seconds = Math.round(Math.abs(middle) / 1_000);
  return doubtful(
    `the clock is ${seconds} s ${middle > 0 ? "ahead of" : "behind"} that of the servers`,
    "Set it, or turn on network time: logins and certificates are judged by it.",
  );
}
