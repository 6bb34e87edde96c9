import type { ServerOverview, ToolOverview } from "../../app/records/status-report.ts";
import { clipText } from "../terminal/fitted-text.ts";
import { plainText } from "../../kernel/text/plain-text.ts";

/** As many as fit on a first screen. */
const mostThings = 3;
const thingCharacters = 90;

/**
 * Sentences that a person can say to an AI client right away, each about a tool of a different server: what people say
 * who need it, where that is known, and otherwise what it does by its own account. Tools that only read come first,
 * then those that can be called without arguments. Empty when no server is usable.
 */
export async function thingsToAsk(servers: readonly ServerOverview[]): Promise<readonly string[]> {
  const found = await Promise.all(servers.map(bestOf));
  return found
    .flatMap((one) => one ?? [])
    .sort((one, other) => other.worth - one.worth)
    .slice(0, mostThings)
    .map(({ sentence }) => sentence);
}

interface Thing {
  readonly sentence: string;
  readonly worth: number;
}

async function bestOf({ title, tools }: ServerOverview): Promise<Thing | undefined> {
  const safe = tools.filter(({ name, description }) => !risky.test(`${name.replaceAll(/[_-]/g, " ")} ${description}`));
  for (const tool of [...safe].sort((one, other) => worth(other) - worth(one))) {
    const said = (await tool.phrases()).find((phrase) => isSaid(phrase) && !risky.test(phrase));
    if (said !== undefined) return { sentence: toSentence(said, title), worth: worth(tool) };
    if (hasSentence(tool))
      return { sentence: `Use ${plainText(title)} to ${toTask(tool.description)}.`, worth: worth(tool) };
  }
  return undefined;
}

/** Whether somebody who has just begun can say it: it does not speak of something that they would have to name. */
function isSaid(phrase: string): boolean {
  return (
    /^\S+(?: \S+){2,}$/.test(phrase) &&
    !/\b(?:this|that|these|those|it|its|they|them|he|she|him|her|one)\b/i.test(phrase)
  );
}

const questions =
  /^(?:what|which|who|whose|where|when|why|how|is|are|was|were|does|do|did|has|have|can|could|should|may)\b/i;

function toSentence(phrase: string, title: string): string {
  const text = clipText(plainText(phrase).trim(), thingCharacters);
  const end = questions.test(text) ? "?" : ".";
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${end} Use ${plainText(title)}.`;
}

function worth(tool: ToolOverview): number {
  return (tool.readOnly ? 2 : 0) + (tool.needsNothing ? 1 : 0);
}

/**
 * Whether a description can follow "to", which it can when it begins with a verb: "Read the entire graph", but not "A
 * tool that ...".
 */
function hasSentence({ description }: ToolOverview): boolean {
  return (
    /^[A-Z]?[a-z]+ [a-z]/.test(description) && !/^(a|an|the|this|these|it|use|used|tool|when|if)\b/i.test(description)
  );
}

/** The first sentence that somebody tries must not lead them to show a secret to a model, or to delete something. */
const risky = /environment|\benv\b|secret|password|credential|token|delet|remov|drop|destroy|forget|eras/i;

function toTask(description: string): string {
  const [first = ""] = plainText(description)
    .trim()
    .split(/(?<=[a-z)])\.(?:\s|$)| \(/, 1);
  const task = `${first.charAt(0).toLowerCase()}${first.slice(1)}`.replace(/\.$/, "");
  return clipText(asInfinitive(task), thingCharacters);
}

/** "Returns the sum" says what a tool does; a person asks it to "return the sum". */
function asInfinitive(task: string): string {
  return task.replace(/^([a-z]+?)(ies|(?:ss|sh|ch|x)es|(?<![s])s)(?= )/, (whole, stem: string, ending: string) => {
    if (ending === "ies") return `${stem}y`;
    return ending === "s" ? stem : whole.slice(0, -2);
  });
}
