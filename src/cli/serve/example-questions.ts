import type { ServerOverview, ToolOverview } from "../../app/records/status-report.ts";
import { plainText, shorten } from "../../kernel/text/plain-text.ts";

/** As many as fit on a first screen. */
const mostThings = 3;
const thingCharacters = 90;

/**
 * Sentences that a person can say to an AI client right away, each about a tool of a different server. Tools that
 * only read come first, then those that can be called without arguments. Empty when no server is usable.
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

/**
 * Whether a description can follow "to", which it can when it begins with a verb: "Read the entire graph", but not "A
 * tool that ...".
 */
function hasSentence({ description }: ToolOverview): boolean {
  return (
    /^[A-Z]?[a-z]+ [a-z]/.test(description) &&
    !/^(a|an|the|this|these|it|use|used|tool|when|if)\b/i.test(description) &&
    !risky.test(description)
  );
}

/** The first sentence that somebody tries must not lead them to show a secret to a model, or to delete something. */
const risky = /environment variable|secret|password|credential|token|delet|remov|drop|destroy/i;

function toTask(description: string): string {
  const [first = ""] = plainText(description)
    .trim()
    .split(/(?<=[a-z)])\.(?:\s|$)| \(/, 1);
  const task = `${first.charAt(0).toLowerCase()}${first.slice(1)}`.replace(/\.$/, "");
  return shorten(asInfinitive(task), thingCharacters);
}

/** "Returns the sum" says what a tool does; a person asks it to "return the sum". */
function asInfinitive(task: string): string {
  return task.replace(/^([a-z]+?)(ies|(?:ss|sh|ch|x)es|(?<![s])s)(?= )/, (whole, stem: string, ending: string) => {
    if (ending === "ies") return `${stem}y`;
    return ending === "s" ? stem : whole.slice(0, -2);
  });
}
