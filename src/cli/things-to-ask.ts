import type { ServerOverview, ToolOverview } from "../app/overview.ts";
import { plainText, shorten } from "./plain-text.ts";

/** A first screen has room for this many. */
const mostThings = 3;
const thingCharacters = 90;

/**
 * Sentences that a person can say to an AI client at once, each made from a tool of another server: tools that only
 * read come first, then those that can be called without arguments. Empty where no server is usable.
 */
export function thingsToAsk(servers: readonly ServerOverview[]): readonly string[] {
  return servers
    .flatMap((server) => {
      const best = [...server.tools].filter(hasSentence).sort((one, other) => worth(other) - worth(one))[0];
      return best === undefined ? [] : [{ server, tool: best, worth: worth(best) }];
    })
    .sort((one, other) => other.worth - one.worth)
    .slice(0, mostThings)
    .map(({ server, tool }) => `Use ${plainText(server.title)} to ${toTask(tool.description)}.`);
}

function worth(tool: ToolOverview): number {
  return (tool.readOnly ? 2 : 0) + (tool.needsNothing ? 1 : 0);
}

/** Descriptions that begin with a verb can follow "to": "Read the entire graph", not "A tool that ...". */
function hasSentence({ description }: ToolOverview): boolean {
  return (
    /^[A-Z]?[a-z]+ [a-z]/.test(description) &&
    !/^(a|an|the|this|these|it|use|used|tool|when|if)\b/i.test(description) &&
    !risky.test(description)
  );
}

/**
 * Nobody should be led to show a model what is secret, or to delete something, with the first sentence that they try.
 */
const risky = /environment variable|secret|password|credential|token|delet|remov|drop|destroy/i;

function toTask(description: string): string {
  const [first = ""] = plainText(description)
    .trim()
    .split(/(?<=[a-z)])\.(?:\s|$)| \(/, 1);
  const task = `${first.charAt(0).toLowerCase()}${first.slice(1)}`.replace(/\.$/, "");
  return shorten(asInfinitive(task), thingCharacters);
}

/** "Returns the sum" is what a tool does; a person asks it to "return the sum". */
function asInfinitive(task: string): string {
  return task.replace(/^([a-z]+?)(ies|(?:ss|sh|ch|x)es|(?<![s])s)(?= )/, (whole, stem: string, ending: string) => {
    if (ending === "ies") return `${stem}y`;
    return ending === "s" ? stem : whole.slice(0, -2);
  });
}
