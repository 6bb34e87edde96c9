import { countText } from "../../kernel/text/count-text.ts";
import type { EverydayLine, FailureLine, PinnedLine } from "../../front/owner/everyday-lines.ts";
import type { EverydayName } from "../../front/owner/everyday-names.ts";
import type { CommandContext } from "../command/command-context.ts";
import { plainText } from "../terminal/plain-text.ts";
import { showWaiting, type WaitingLine } from "../terminal/waiting-line.ts";
import { openEveryday, type EverydayTalk } from "./everyday-gateway.ts";

export interface Asked {
  readonly command: EverydayName;
  readonly request: object;
}

/** Told of every line that belongs to the answer. */
export type TakeLine = (line: EverydayLine, talk: EverydayTalk) => void | Promise<void>;

/** Gives one command to the gateway, and resolves to the exit code. Failures and waiting are told on stderr. */
export async function runEveryday(context: CommandContext, asked: Asked, take: TakeLine): Promise<number> {
  using talk = await openEveryday(context);
  return await askEveryday(talk, asked, take);
}

/** The same on a connection that there is. */
export async function askEveryday(talk: EverydayTalk, { command, request }: Asked, take: TakeLine): Promise<number> {
  let waiting: WaitingLine | undefined;
  let code = 0;
  try {
    for await (const line of talk.ask(command, request)) {
      waiting?.end();
      waiting = line.waiting === undefined ? undefined : showWaiting(waitingText(line.waiting), process.stderr);
      if (line.failure !== undefined) {
        process.stderr.write(toFailureText(line.failure));
        code = 1;
      } else if (line.missing !== undefined) {
        const { server, word, reason } = line.missing;
        process.stderr.write(
          `toolyard: not listed: ${server} (${word}${reason === "" ? "" : `: ${plainText(reason)}`})\n`,
        );
      } else if (line.pinned !== undefined) process.stderr.write(`toolyard: ${pinnedText(line.pinned)}\n`);
      else await take(line, talk);
    }
  } finally {
    waiting?.end();
  }
  return code;
}

function pinnedText({ path, name, tokens, near }: PinnedLine): string {
  if (name !== null) return `pinned: ${plainText(path)} as ${name}, ~${countText(tokens)} tokens in each conversation`;
  const meant = near.length === 0 ? "" : ` (${near.map((other) => plainText(other)).join(", ")}?)`;
  return `pinned, but there is no such tool: ${plainText(path)}${meant}`;
}

const mostNamed = 5;

function waitingText(servers: readonly string[]): string {
  const others = servers.length - mostNamed;
  const names = servers.slice(0, mostNamed).join(", ");
  return `waiting for ${names}${others > 0 ? ` and ${others} more` : ""} to start`;
}

/** What happened, what to do, and what may have been meant. */
export function toFailureText(failure: FailureLine): string {
  const { message, hint, signature, closest = [], tool_paths: paths = [], uris = [] } = failure;
  const meant = [...new Set([...closest, ...paths, ...uris])];
  return [
    `toolyard: ${plainText(message)}`,
    ...(hint === "" ? [] : [`  ${plainText(hint)}`]),
    ...(signature === undefined ? [] : [`  It takes ${plainText(signature)}`]),
    ...(meant.length === 0
      ? []
      : [`  ${paths.length > 0 || uris.length > 0 ? "One of" : "Closest"}: ${meant.map(plainText).join(", ")}`]),
    "",
  ].join("\n");
}

/** Tells that a command was typed wrongly. Resolves to the exit code. */
export function refuseUsage(message: string, usage: string): number {
  process.stderr.write(`toolyard: ${message}\n  ${usage}\n`);
  return 2;
}
