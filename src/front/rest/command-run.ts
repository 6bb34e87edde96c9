import * as z from "zod";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { jsonAnswer, type Answer } from "./answer.ts";
import { abortedWith } from "./client-gone.ts";
import type { RestDeps } from "./deps.ts";
import type { CommandOutcome } from "./management.ts";
import { requireManager } from "./manager.ts";
import type { RestRequest } from "./route.ts";
import * as schemas from "./schemas.ts";

export const outcome = z
  .object({
    ok: z.boolean(),
    text: z.string().describe("What the command says to people: the change, or why there is none."),
    facts: z.array(schemas.json).describe("What it says to programs."),
  })
  .meta({ id: "CommandOutcome" });

export type Outcome = z.output<typeof outcome>;

/**
 * Runs one of our own commands; `input` is what it reads. Throws FORBIDDEN for all who may not manage the gateway,
 * before anything is run.
 */
export async function runOwn(
  deps: RestDeps,
  request: RestRequest,
  words: readonly string[],
  input?: string,
): Promise<Outcome> {
  const management = requireManager(deps, request);
  return toOutcome(await management.run(words, abortedWith(request.response), input), deps.redact);
}

function toOutcome({ code, stdout, stderr }: CommandOutcome, redact: (text: string) => string): Outcome {
  const lines = stdout.split("\n").filter((line) => line.trim() !== "");
  const facts = lines.map(parseLine).filter((fact) => fact !== undefined);
  const said = facts.length === lines.length ? "" : stdout;
  return {
    ok: code === 0,
    text: redact(
      [said, stderr]
        .map((text) => text.trim())
        .join("\n")
        .trim(),
    ),
    facts,
  };
}

function parseLine(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

/** What came of a command; nobody keeps it. */
export function toAnswer(value: Outcome): Answer {
  return jsonAnswer(value, { "Cache-Control": "no-store" });
}

/** Writes into the audit what is about to be changed. Throws FORBIDDEN as `runOwn` does. */
export async function order(deps: RestDeps, request: RestRequest, action: string, object: string): Promise<void> {
  requireManager(deps, request);
  const { id: actor, team } = request.principal;
  await deps.audit.order({ actor, team, via: "rest", action, object });
}

/** A word that no command takes for an option. Throws PARAMS_INVALID. */
export function plainWord(field: string, word: string): string {
  if (word !== "" && !word.startsWith("-")) return word;
  throw new GatewayError("PARAMS_INVALID", `body.${field}: is empty, or begins with a hyphen`, {
    data: { field: `body.${field}` },
  });
}
