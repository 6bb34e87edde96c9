import { besideBar } from "./fitted-text.ts";
import { plainText } from "../../kernel/text/plain-text.ts";

/** Whether somebody is there to be asked. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/**
 * Asks a person on the terminal, on stderr, so that stdout stays for results. Escape and Ctrl-C are a no. Loads the
 * code for it.
 */
export async function askYes(question: string, preset = true): Promise<boolean> {
  const { confirm } = await import("@clack/prompts");
  return (await confirm({ message: question, initialValue: preset, output: process.stderr })) === true;
}

/** Asks a person to type a word. Whatever else is typed, Escape and Ctrl-C are a no. */
export async function askTyped(question: string, word: string): Promise<boolean> {
  const { text } = await import("@clack/prompts");
  const given = await text({ message: besideBar(question), output: process.stderr });
  return typeof given === "string" && given.trim().toLowerCase() === word;
}

/** One of several things that somebody chooses among. */
interface Choice {
  readonly name: string;
  /** Shown beside it. */
  readonly about: string;
}

/** Asks which of these, all of which are ticked; none of them after Escape and Ctrl-C. */
export async function askWhich(question: string, choices: readonly Choice[]): Promise<readonly string[]> {
  const { isCancel, multiselect } = await import("@clack/prompts");
  const chosen = await multiselect({
    message: question,
    options: choices.map(({ name, about }) => ({
      value: name,
      label: plainText(about === "" ? name : `${name} (${about})`),
    })),
    initialValues: choices.map(({ name }) => name),
    required: false,
    output: process.stderr,
  });
  return isCancel(chosen) ? [] : chosen;
}

/** Asks for a text that is not shown. Undefined after Escape and Ctrl-C. */
export async function askSecret(question: string): Promise<string | undefined> {
  const { isCancel, password } = await import("@clack/prompts");
  const given = await password({ message: besideBar(question), output: process.stderr });
  return isCancel(given) || given === "" ? undefined : given;
}
