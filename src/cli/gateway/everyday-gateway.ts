import { createInterface } from "node:readline";
import type { EverydayLine } from "../../front/owner/everyday-lines.ts";
import type { EverydayName } from "../../front/owner/everyday-names.ts";
import { sleep } from "../../kernel/runtime/abort.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { toDurationText } from "../../kernel/text/duration-text.ts";
import type { GatewayHolder } from "../../store/gateway-holder.ts";
import { findOrStartGateway, idleExitS } from "./background.ts";
import { openDataDirectory, readConfig, type CommandContext } from "../command/command-context.ts";
import { givenOption } from "../command/options.ts";
import { openOwnerSocket } from "./owner-client.ts";
import { findGateway } from "./running-gateways.ts";

/** A connection to the gateway, on which one command after the other can be given. */
export interface EverydayTalk extends Disposable {
  /** Gives a command, and the lines that it is answered with. The last one says `end`. */
  ask(command: EverydayName, request: object): AsyncGenerator<EverydayLine, void>;
  /** Answers a question: a JSON text. */
  answer(text: string): void;
}

const mostTries = 5;
const retryMs = 100;

/**
 * Connects to the running gateway of the configuration that is meant; where none runs, it is started in the background
 * as for `toolyard stdio`, which is said once. Rejects with GATEWAY_UNREACHABLE, or with CONFIG_INVALID where there is
 * nothing to start.
 */
export async function openEveryday(context: CommandContext): Promise<EverydayTalk> {
  for (let tries = 1; ; tries += 1) {
    const holder = await findOrStart(context);
    try {
      const { socket } = await openOwnerSocket(holder, "control", "/mcp");
      return createTalk(socket, holder);
    } catch (error) {
      // It has just begun to stop: then there is another one soon, or none.
      if (tries === mostTries) throw error;
      await sleep(retryMs, new AbortController().signal);
    }
  }
}

async function findOrStart(context: CommandContext): Promise<GatewayHolder> {
  const running = await findGateway(context).catch((error: unknown) => {
    if (error instanceof GatewayError && error.code === "GATEWAY_UNREACHABLE") return undefined;
    throw error;
  });
  if (running !== undefined && running.url !== null) return running;
  const config = await readConfig(context);
  if (config.file === undefined)
    throw new GatewayError("CONFIG_INVALID", "no gateway runs, and there is no configuration to start one with", {
      hint: "Name a configuration with --config, or write a toolyard.json.",
    });
  const onStart = (): void => {
    const given = givenOption(context, "idle-exit");
    const idle = toDurationText(1_000 * (given === undefined ? idleExitS : Number(given.text)));
    process.stderr.write(`toolyard: started a gateway in the background; it ends after ${idle} without use\n`);
  };
  const dataDir = openDataDirectory(config, context);
  return (await findOrStartGateway({ context, config, dataDir, onStart })).holder;
}

type OwnerStream = Awaited<ReturnType<typeof openOwnerSocket>>["socket"];

function createTalk(socket: OwnerStream, { pid }: GatewayHolder): EverydayTalk {
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  const gone = (): GatewayError =>
    new GatewayError("GATEWAY_UNREACHABLE", `the gateway of process ${pid} ended without answering`);
  socket.on("error", () => undefined);
  return {
    async *ask(command, request) {
      socket.write(`${JSON.stringify({ ...request, command })}\n`);
      for (;;) {
        const next = await lines.next();
        if (next.done === true) throw gone();
        const line = JSON.parse(next.value) as EverydayLine & { readonly message?: string };
        // As a gateway answers that does not know the command.
        if (!line.ok && line.failure === undefined) throw tooOld(pid, line.message ?? "");
        yield line;
        if (line.end === true) return;
      }
    },
    answer: (text) => void socket.write(`${JSON.stringify({ answer: text })}\n`),
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

function tooOld(pid: number, message: string): GatewayError {
  return new GatewayError("GATEWAY_UNREACHABLE", `the gateway of process ${pid} is of another version: ${message}`, {
    hint: "Run `toolyard stop` and start it again.",
  });
}
