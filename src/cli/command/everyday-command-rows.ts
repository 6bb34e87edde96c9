import { common, elsewhere, type Command, type Options } from "./command-row.ts";

const matching: Options = {
  match: { word: "T", about: "only those that have these words in their name or description" },
};

const ofProfile: Options = { profile: { word: "P", about: "only what this profile has" } };

const perLine: Options = { json: { about: "print each as one line of JSON" } };

const ofResult: Options = {
  output: { word: "FILE", about: "save images, sound and other data there; where there is none, the text" },
  json: { about: "print the result as it came" },
};

/** What the commands of every day do where no gateway runs. */
const startsOne =
  "Where no gateway runs with this configuration, one is started in the background. " +
  "It ends after 10 minutes without use.";

/** What people and scripts do with tools, resources and prompts. */
export const everydayCommandRows = {
  search: {
    words: Number.POSITIVE_INFINITY,
    usage: 'toolyard search ["words"] [options]',
    about: "Finds tools as a model that asks this would, best first.",
    options: {
      ...common,
      ...elsewhere,
      explain: { about: "say why each was found: words, fields, and their shares of the score" },
      limit: { word: "N", about: "how many, 1 to 50 (default: 10)" },
      server: { word: "S", about: "only tools of this server" },
      ...ofProfile,
      keep: { word: "TOOL", about: "keep these words as a test that should find this tool, server:tool" },
      check: { about: "make all searches again that you keep as tests" },
      forget: { word: "ID", about: "keep that one no longer" },
      json: { about: "print one JSON object; with --check, each search as one line of JSON" },
    },
    notes: `The number beside a tool is a distance: 0 is a perfect match, 1 is none. Nothing is learned from these searches
here. --check ends with code 1 when a tool ranks lower than when it was kept, or is not found any more. Those searches
are the owner's, which the dashboard shows to those logged in by \`toolyard open\`. ${startsOne}`,
  },
  call: {
    words: Number.POSITIVE_INFINITY,
    usage: "toolyard call <tool> [name=value ... | JSON | -] [options]",
    about: "Calls a tool, and prints its result.",
    options: { ...common, ...elsewhere, ...ofResult },
    notes: `The tool in any spelling, such as server:tool. Arguments:
  name=value       read as the tool's schema says: a text, a number, true or false
  name=a name=b    a list
  name.part=value  a member of an object
  name=@FILE       the text of a file
  name:=JSON       any JSON, such as n:=[1,2]
  '{"name":1}'     all of them as one JSON object; - reads it from stdin
What a server asks in the middle of a call is asked on the terminal, and declined where there is none. Ctrl-C cancels
the call. Ends with code 1 when the tool failed; its text is on stderr then.
${startsOne}`,
  },
  tools: {
    words: 1,
    usage: "toolyard tools [server] [options]",
    about: "Lists tools, with what they do by their own account and what their definitions cost a model.",
    options: { ...common, ...elsewhere, ...matching, ...ofProfile, ...perLine },
    notes: startsOne,
  },
  profiles: {
    words: 0,
    usage: "toolyard profiles [options]",
    about: "Lists the sets of servers and tools that a client can be connected to, and what each costs a model.",
    options: { ...common, ...elsewhere, json: { about: "print one JSON object" } },
    notes: `\`toolyard connect CLIENT --profile NAME\` connects a client to one. ${startsOne}`,
  },
  show: {
    words: 1,
    usage: "toolyard show <tool|server> [options]",
    about: "Shows the facts about one tool (its arguments, description, cost and use) or one server.",
    options: { ...common, ...elsewhere, json: { about: "print one JSON object, with the whole definition" } },
    notes: startsOne,
  },
  approvals: {
    words: 2,
    usage:
      "toolyard approvals [--all] [options]\n" +
      "       toolyard approvals show|allow|deny|revoke ID [--for once|session|always] [options]\n" +
      "       toolyard approvals grants|read|forget [options]",
    about: "Shows calls that wait for a person's yes, and takes the yes or no.",
    options: {
      ...common,
      ...elsewhere,
      all: { about: "also those that were decided in the last seven days" },
      for: { word: "HOW", about: "how long a yes counts: once, session, always (default: once)" },
      json: { about: "print one JSON object" },
    },
    notes: `A yes counts for one call with the same arguments, for the client's session, or until it is taken back with
revoke. It is typed on a terminal; elsewhere allow ends with code 2. read shows what clients have read that policy.flows
goes by, and forget has it count no more.`,
  },
  definitions: {
    words: 2,
    usage:
      "toolyard definitions [SERVER] [--all] [options]\n" +
      "       toolyard definitions diff|approve|block SERVER[:TOOL] [options]",
    about: "Shows definitions of tools that changed, and allows or blocks those that wait for a person.",
    options: {
      ...common,
      ...elsewhere,
      all: { about: "also those that are as they were first seen" },
      json: { about: "print one JSON object" },
    },
    notes: `Without a tool, approve and block decide about everything of the server that waits. A yes is typed on a
terminal; elsewhere approve ends with code 2.`,
  },
  sandbox: {
    words: 3,
    usage: "toolyard sandbox explain|try|learn|allow SERVER [HOST] [--for DURATION] [--keep] [options]",
    about: "Says what a server sees and reaches in a sandbox, tries it in one, and notes or allows hosts.",
    options: {
      ...common,
      for: { word: "DURATION", about: "learn: begin again, for so long: 30m, 12h, 7d (default: 1d)" },
      keep: { about: "learn: write the hosts into the server's entry, without a question" },
      json: { about: "print one JSON object" },
    },
    notes: `A server whose entry says nothing is explained and tried as with "sandbox": true. \`explain\` ends with code 1
where this machine can make no sandbox. \`learn\` takes a running gateway: the first time it begins to note hosts, later it
shows them, and on a terminal asks whether they become the server's list. See [sandbox](sandbox.md).`,
  },
  policy: {
    words: 2,
    usage: "toolyard policy explain TOOL [--as WHO] [--args JSON] [options]",
    about: "Says what a tool may do, whether it asks a person first, and why.",
    options: {
      ...common,
      ...elsewhere,
      as: { word: "WHO", about: "for whom: a person's id, name, or name@team (for admins of the gateway)" },
      args: { word: "JSON", about: "arguments of a call: they may choose something worse than the name says" },
      json: { about: "print one JSON object" },
    },
    notes: startsOne,
  },
  resources: {
    words: 1,
    usage: "toolyard resources [server] [options]",
    about: "Lists resources and templates, with URIs as `toolyard read` takes them.",
    options: { ...common, ...elsewhere, ...matching, ...perLine },
    notes: startsOne,
  },
  read: {
    words: 1,
    usage: "toolyard read <uri> [options]",
    about: "Reads a resource by any form of its URI.",
    options: { ...common, ...elsewhere, ...ofResult },
    notes: startsOne,
  },
  prompts: {
    words: 1,
    usage: "toolyard prompts [server] [options]",
    about: "Lists prompts, under the names that clients see.",
    options: { ...common, ...elsewhere, ...matching, ...perLine },
    notes: startsOne,
  },
  completion: {
    words: 1,
    usage: "toolyard completion <shell>",
    about: "Prints a script that completes commands, options, servers and tools: bash, zsh, fish or powershell.",
    options: {},
    notes: `  bash: add \`source <(toolyard completion bash)\` to ~/.bashrc, or for zsh, with \`zsh\`, to ~/.zshrc after compinit.
  fish: toolyard completion fish > ~/.config/fish/completions/toolyard.fish
  PowerShell: add \`toolyard completion powershell | Out-String | Invoke-Expression\` to $PROFILE.
Servers and tools are those that a gateway has seen: nothing is started.`,
  },
} as const satisfies Readonly<Record<string, Command>>;
