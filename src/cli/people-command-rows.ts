import { common, principal, type Command, type Options } from "./command-row.ts";

const ofTeam: Options = {
  team: { word: "TEAM", about: "the team that it is for" },
  days: { word: "N", about: "how long a new token is valid, 1 to 365 (default: 90)" },
};

const teamRole: Options = { role: { word: "ROLE", about: "owner, admin or member of the team (default: member)" } };

/** Commands about people and their tokens. */
export const peopleCommandRows: Readonly<Record<string, Command>> = {
  user: {
    words: 2,
    usage: "toolyard user [list|add|disable|enable] [NAME] [options]",
    about: "Lists, adds and disables the users of a running gateway for teams.",
    options: {
      ...common,
      ...ofTeam,
      ...teamRole,
      admin: { about: "add: an admin of the gateway, whose team is made where it is missing" },
      json: { about: "print one JSON object" },
    },
    notes: `With --team, \`add\` prints a token, once. Disabling ends what the user has opened at once.`,
    load: async () => (await import("./short-commands.ts")).shortCommands.user,
  },
  team: {
    words: 2,
    usage: "toolyard team [list|add|members] [TEAM] [options]",
    about: "Lists and adds the teams of a running gateway for teams, and who is in them.",
    options: {
      ...common,
      add: { word: "USER", about: "members: put this user into the team" },
      remove: { word: "USER", about: "members: take this user out, with all tokens for this team" },
      ...teamRole,
      json: { about: "print one JSON object" },
    },
    load: async () => (await import("./short-commands.ts")).shortCommands.team,
  },
  token: {
    words: 2,
    usage: "toolyard token new|list|revoke [ID] [options]",
    about: "Makes a bearer token, and prints it once; lists and revokes those of a gateway for teams.",
    options: {
      ...common,
      ...principal("new: whose token it is in the configuration (default: the local user's)"),
      user: { word: "NAME", about: "new, list: whose token of a running gateway for teams it is" },
      ...ofTeam,
      name: { word: "TEXT", about: "new: what it is for" },
      json: { about: "print one JSON object" },
    },
    notes: `Without --user, \`new\` asks no gateway: it prints the token and its hash for the configuration. Revoking
ends what was opened with the token at once.`,
    load: async () => (await import("./short-commands.ts")).shortCommands.token,
  },
};
