import * as z from "zod";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Services } from "../services.ts";
import type { CommandOutcome } from "./management.ts";
import { requireManager } from "./manager.ts";
import type { OperationRequest } from "../operation.ts";
import * as schemas from "../schemas.ts";

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
  services: Services,
  request: OperationRequest,
  words: readonly string[],
  input?: string,
): Promise<Outcome> {
  const management = requireManager(services, request);
  return toOutcome(await management.run(words, request.signal, input), services.redact);
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

/** Writes the coming change into the audit. Throws FORBIDDEN as `runOwn` does. */
export async function order(
  services: Services,
  request: OperationRequest,
  action: string,
  object: string,
): Promise<void> {
  requireManager(services, request);
  const { id: actor, team } = request.principal;
  await services.audit.order({ actor, team, via: request.via, action, object });
}

/** A word that no command takes for an option. Throws PARAMS_INVALID. */
export function plainWord(field: string, word: string): string {
  if (word !== "" && !word.startsWith("-")) return word;
  throw new GatewayError("PARAMS_INVALID", `body.${field}: is empty, or begins with a hyphen`, {
    data: { field: `body.${field}` },
  });
}
