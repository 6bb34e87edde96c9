import { findLoginTarget } from "../../operations/machine/servers/configured-server.ts";
import { openBrowser } from "../../operations/machine/surroundings/browser.ts";
import type { Surroundings } from "../../operations/machine/surroundings/surroundings.ts";
import type { MachineOrders } from "../../operations/request/management.ts";
import { abortAfter, untilAborted } from "../../kernel/runtime/abort.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { GatewayParts } from "../gateway-parts.ts";
import { tryApart } from "./trial-process.ts";

/** Trying a server may install a package first. */
const longestMs = 180_000;
/** A person clicks one thing after the other. */
const mostAtOnce = 4;

/** Orders on the machine of the gateway, carried out with its own parts and in its own process. */
export function createMachineOrders(
  { config, logins, late }: Pick<GatewayParts, "config" | "logins" | "late">,
  place: Surroundings,
): MachineOrders {
  let running = 0;

  return {
    place,
    async order(sender, work) {
      if (running >= mostAtOnce) throw new GatewayError("RATE_LIMITED", `${running} of these orders run already`);
      running += 1;
      const signal = abortAfter(longestMs, sender);
      const load = async () => await import("../../operations/machine/machine.ts");
      const done = late
        .load("the code for orders on this machine", load)
        .then(async (code) => await work(code, signal));
      // One that was given up counts until it has ended.
      const end = (): void => void (running -= 1);
      done.then(end, end);
      return await untilAborted(done, signal).catch((error: unknown) => {
        throw signal.aborted && !sender.aborted ? tookTooLong(error) : error;
      });
    },
    tryServer: async (tried, signal) => await tryApart(place, tried, signal),
    async logIn(name, signal) {
      const { server, instance } = findLoginTarget(config(), name, undefined);
      const { openCallback } = await late.load(
        "the login",
        async () => await import("../../servers/logins/flow/callback.ts"),
      );
      const way = {
        openCallback: async () => await openCallback(0),
        open: (url: string) => openBrowser(url, process.platform),
      };
      await logins.logIn(server, instance, way, signal);
    },
    async logOut(name) {
      const { server, instance } = findLoginTarget(config(), name, undefined);
      return await logins.logOut(server, instance);
    },
  };
}

function tookTooLong(cause: unknown): GatewayError {
  return new GatewayError("UPSTREAM_TIMEOUT", `it was given up after ${longestMs / 1_000} s`, {
    cause,
    hint: "Order it again: what was installed meanwhile is there then.",
  });
}
