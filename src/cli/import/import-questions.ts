import type { PlannedServer } from "../../config/clients/import/import-plan.ts";
import { commandText, type SecretWay } from "../../operations/machine/clients/import-facts.ts";
import { plainText } from "../../kernel/text/plain-text.ts";

/** What a person chose; undefined when they gave up. */
export interface ImportChoice {
  readonly servers: readonly PlannedServer[];
  readonly secrets: SecretWay;
}

/**
 * Asks on the terminal which servers are taken over, and how their secrets are written. A server that runs a shell or
 * unknown code has to be chosen by hand.
 */
export async function askWhatToImport(
  servers: readonly PlannedServer[],
  given: SecretWay | undefined,
): Promise<ImportChoice | undefined> {
  const { isCancel, multiselect, select } = await import("@clack/prompts");
  const chosen = await multiselect({
    message: "Which of them? (space changes, enter goes on)",
    options: servers.map((server) => ({
      value: server.key,
      label: plainText(server.key),
      hint: [commandText(server), ...server.marks].join("  ! "),
    })),
    initialValues: servers.filter((server) => server.isPreselected).map(({ key }) => key),
    required: false,
  });
  if (isCancel(chosen)) return undefined;
  const taken = servers.filter(({ key }) => chosen.includes(key));
  if (given !== undefined || !taken.some(({ secrets }) => secrets.length > 0))
    return { servers: taken, secrets: given ?? "keep" };
  const way = await select<SecretWay>({
    message: "Secrets stand in their entries. How should they be written?",
    options: [
      { value: "keep", label: "as they are", hint: "works at once; only you can read a new file" },
      { value: "variables", label: "as variables", hint: "you set them before the gateway starts" },
    ],
  });
  return isCancel(way) ? undefined : { servers: taken, secrets: way };
}

/** Asks whether the change that was shown is made. */
export async function askWhetherToWrite(file: string): Promise<boolean> {
  const { confirm, isCancel } = await import("@clack/prompts");
  const answer = await confirm({ message: `Write this to ${file}?` });
  return !isCancel(answer) && answer;
}
