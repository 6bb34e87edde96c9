import { createServer } from "node:net";
import type { Config } from "../../../config/config.ts";
import { hasProcess } from "../../../config/entry/transports.ts";
import { apparmorProfile, probeBubblewrap } from "../../../servers/sandbox/bubblewrap.ts";
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

/** Whether servers can run in sandboxes here; undefined where none is meant to and no one can. */
export async function checkSandbox(
  { settings, servers }: Pick<Config, "settings" | "servers">,
  path: string,
): Promise<Finding | undefined> {
  const wanting = servers.filter(({ transport }) => hasProcess(transport) && transport.sandbox !== undefined);
  const isWanted = wanting.length > 0 || settings.sandbox.mode !== "off";
  if (process.platform !== "linux")
    return isWanted ? broken("there are sandboxes on Linux only", "Take `sandbox` out of the entries.") : undefined;
  const here = await probeBubblewrap(path);
  if (!("why" in here)) {
    const also = here.nsenter === undefined ? ", but reach no hosts by name: nsenter is not installed" : "";
    return fine(`servers can run in sandboxes (bubblewrap ${here.version})${also}`);
  }
  const todo = here.hint.includes("AppArmor") ? `${here.hint}\n${apparmorAdvice}` : here.hint;
  const what = `servers cannot run in sandboxes: ${here.why}`;
  if (wanting.length > 0) return broken(what, todo);
  if (settings.sandbox.mode === "off") return fine(what);
  return settings.sandbox.mode === "require" ? broken(what, todo) : doubtful(what, todo);
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
