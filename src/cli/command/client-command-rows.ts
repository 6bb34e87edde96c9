import { common, principal, type Command, type Options } from "./command-row.ts";

/** What `connect` and `disconnect` share: which file, and how far to go. */
const clientFile: Options = {
  ...common,
  scope: {
    word: "S",
    about: "user (default), project (the file in this folder), or local (Claude Code: only you, only here)",
  },
  file: { word: "FILE", about: "the client's file, where it is not in its usual place" },
  name: {
    word: "NAME",
    about: "the name of our entry in that file (default: toolyard, or the one that is ours already)",
  },
  "dry-run": { about: "only show what would change" },
  yes: { short: "y", about: "do not ask" },
  undo: { about: "take the last change of that file back, byte for byte" },
  json: { about: "print one JSON object" },
};

/** The commands about AI clients and their files. */
export const clientCommandRows = {
  import: {
    words: 0,
    usage: "toolyard import [options]",
    about: "Takes over the servers that AI clients on this machine have, after showing what would change.",
    options: {
      // All of them, as the page of the gateway gives them to each command.
      ...common,
      config: { word: "FILE", about: "the configuration to add to (default: toolyard.json here, then the user's)" },
      from: { word: "CLIENT", about: "only the servers of this client, such as cursor or claude-desktop" },
      only: { word: "NAME", isRepeated: true, about: "only the server of this name; may be given several times" },
      secrets: {
        word: "WAY",
        about:
          "how secrets in clients' files are written: keep (as they are) or variables, whose values are kept " +
          "encrypted (default: asked; keep with --yes)",
      },
      yes: { about: "do it without asking" },
      "dry-run": { about: "only show what would be done" },
      json: { about: "print one JSON object" },
    },
    notes: `Nothing is started, and clients' files are not changed. The configuration's comments and order stay, and
a backup is put beside it. Without a terminal and without --yes, it ends with code 2 when there is something to do.`,
  },
  clients: {
    words: 0,
    usage: "toolyard clients [options]",
    about: "Lists the AI clients on this machine, their files, and which gateway they are connected to.",
    options: { ...common, json: { about: "print one JSON object" } },
  },
  connect: {
    words: 1,
    usage: "toolyard connect <client> [options]",
    about: "Writes the gateway into an AI client's file, after showing the change.",
    options: {
      ...clientFile,
      stdio: { about: "let the client start `toolyard stdio`, even where it could use HTTP" },
      url: { word: "URL", about: "the gateway's address for this client (default: that of the settings)" },
      token: { word: "TOKEN", about: "the token that it sends; better given as a variable" },
      ...principal("whose token is made, where people are configured"),
      profile: { word: "NAME", about: "only what this profile of the configuration has" },
      hook: { about: "have Claude Code apply the rules of this configuration before each call, too" },
      replace: { about: "switch off what the client has of its own and the gateway has too" },
      "keep-own": { about: "leave that as it is, without asking" },
    },
    notes: `Without a client, it says which there are. Each change is kept in the data directory, with the file as it was.
Without a terminal and without --yes, it ends with code 2 when there is something to do.`,
  },
  hook: {
    words: 1,
    usage: "toolyard hook claude-code [options]",
    about: "Answers Claude Code, before a call, what the rules of the configuration say of the tool.",
    options: common,
    notes: `Claude Code runs it: \`toolyard connect claude-code --hook\` has it do so. It reads the call on stdin, and prints a
refusal or a question, or nothing where \`tools.allow\` and \`tools.deny\` let the call through. Where it cannot tell,
it ends with code 2, which refuses the call.`,
    load: async () => (await import("./hook-command.ts")).hook,
  },
  disconnect: {
    words: 1,
    usage: "toolyard disconnect <client> [options]",
    about: "Takes the gateway out of an AI client's file, and switches on again what `connect` had switched off.",
    options: clientFile,
  },
} as const satisfies Readonly<Record<string, Command>>;
