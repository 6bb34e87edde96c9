import { common, elsewhere, principal, type Command, type Options } from "./command-row.ts";

const ofTeam: Options = {
  team: { word: "TEAM", about: "the team that it is for" },
  days: { word: "N", about: "how long a new token is valid, 1 to 365 (default: 90)" },
};

const teamRole: Options = { role: { word: "ROLE", about: "owner, admin or member of the team (default: member)" } };

/** Commands about people and their tokens. */
export const peopleCommandRows: Readonly<Record<string, Command>> = {
  user: {
    words: 2,
    usage: "toolyard user [list|add|link|account|email|disable|enable|role|reset|remove] [NAME] [options]",
    about: "Lists, adds, changes and removes the users of a running gateway for teams.",
    options: {
      ...common,
      ...elsewhere,
      ...ofTeam,
      role: { word: "ROLE", about: "add: owner, admin or member of the team; role: admin or user of the gateway" },
      admin: { about: "add: an admin of the gateway, whose team is made where it is missing" },
      issuer: { word: "URL", about: "account: where the account is, as its tokens name it" },
      subject: { word: "ID", about: "account: the account's id there, the claim `sub`" },
      email: {
        word: "ADDRESS",
        about:
          "add, email: the address by which identity providers with `linkByEmail` know the user; email: `none` " +
          "takes it away",
      },
      "password-link": { about: "add: also print a link that sets the password" },
      json: { about: "print one JSON object" },
    },
    notes: `With --team, \`add\` prints a token, once. \`link\` prints a link that sets
the password of a user, once and within the hour; without a name, one that makes the first admin. \`reset\` revokes all
tokens of the user, logs them out everywhere and unlinks accounts elsewhere but the one that they came with. \`account\` says whose an account at another authorization server or
identity provider is. Disabling, resetting and removing end what the user has opened at once.`,
  },
  team: {
    words: 2,
    usage: "toolyard team [list|add|members|role|owner|limits|rules|import|remove] [TEAM] [options]",
    about: "Lists, adds and changes the teams of a running gateway for teams, and who is in them.",
    options: {
      ...common,
      ...elsewhere,
      add: { word: "USER", about: "members: put this user into the team" },
      remove: { word: "USER", about: "members: take this user out, with all tokens for this team" },
      user: { word: "USER", about: "role, owner: the member whose it is to be" },
      "most-members": { word: "N", about: "limits: the most members that the team may have" },
      "most-servers": { word: "N", about: "limits: the most servers that the team may install" },
      "most-programs": { word: "N", about: "limits: the most of these that are programs on the gateway's machine" },
      file: {
        word: "FILE",
        about:
          "import: JSON with `mcpServers` or `servers`, as AI clients and this program write it; rules: a JSON list of " +
          "rules, in place of those of before",
      },
      only: {
        word: "NAME",
        isRepeated: true,
        about: "import: only this server of the file; may be given several times",
      },
      "dry-run": { about: "import: only show what would be done" },
      yes: { short: "y", about: "import: do not ask" },
      ...teamRole,
      json: { about: "print one JSON object" },
    },
    notes: `\`import\` makes a template of the team and an installation for each server of a file; those that the team
has already stay. Secrets and values of variables become secrets of the team. Without a terminal and without --yes, it
ends with code 2 when there is something to do. \`owner\` hands the team over: its former owner is an admin of it then. \`rules\` shows the team's rules about calls of the
servers that it installed, or replaces them with those of --file (docs/safety.md). \`limits\` without options takes the
limits away.`,
  },
  invite: {
    words: 2,
    usage: "toolyard invite [list|new|revoke] [ID] [options]",
    about: "Invites people into a team of a running gateway for teams: prints a link that is good once, for 72 hours.",
    options: {
      ...common,
      ...elsewhere,
      team: { word: "TEAM", about: "the team that it is for" },
      about: { word: "TEXT", about: "new: for whom it is, as lists show it" },
      ...teamRole,
      json: { about: "print one JSON object" },
    },
    notes: `The person who opens the link joins the team, with the account that they have or with one that they make there.
Programs send the part after /invite/ to POST /api/invites/accept.`,
  },
  token: {
    words: 2,
    usage: "toolyard token new|list|revoke [ID] [options]",
    about: "Makes a bearer token, and prints it once; lists and revokes those of a gateway for teams.",
    options: {
      ...common,
      ...elsewhere,
      ...principal("new: whose token it is in the configuration (default: the local user's)"),
      user: { word: "NAME", about: "new, list: whose token of a running gateway for teams it is" },
      ...ofTeam,
      name: { word: "TEXT", about: "new: what it is for" },
      scope: {
        word: "SCOPES",
        about: "new: mcp:read, mcp:tools:execute or mcp:admin, with commas (default: all three); and mcp:approve",
      },
      only: { word: "SERVERS", about: "new: it is for these servers only, with commas" },
      profile: { word: "NAME", about: "new: it is for this profile of the configuration alone" },
      json: { about: "print one JSON object" },
    },
    notes: `Without --user, \`new\` asks no gateway: it prints the token and its hash for the configuration. Revoking
ends what was opened with the token at once.`,
  },
  app: {
    words: 2,
    usage: "toolyard app [list|revoke] [ID] [options]",
    about: "Lists the apps that act for people of a running gateway for teams, and takes their access back.",
    options: {
      ...common,
      ...elsewhere,
      user: { word: "NAME", about: "only those of this user" },
      json: { about: "print one JSON object" },
    },
    notes: "Streams and calls of an app end at once, and it has to ask again.",
  },
  session: {
    words: 2,
    usage: "toolyard session [list|end] [ID] [options]",
    about: "Lists the browsers that people of a running gateway for teams are logged in with, and logs them out.",
    options: {
      ...common,
      ...elsewhere,
      user: { word: "NAME", about: "only those of this user" },
      json: { about: "print one JSON object" },
    },
    notes: "`toolyard user reset NAME` ends all of a user's, and tokens, apps and accounts elsewhere as well.",
  },
  client: {
    words: 2,
    usage: "toolyard client [list|add|rm] [NAME|ID] [options]",
    about: "Lists the apps that are registered at a running gateway for teams, registers one, and removes one.",
    options: {
      ...common,
      ...elsewhere,
      redirect: {
        word: "URL",
        isRepeated: true,
        about: "add: where the app is called back; may be given several times",
      },
      "with-secret": { about: "add: with a secret, for an app that can keep one; always without --redirect" },
      json: { about: "print one JSON object" },
    },
    notes: `Most apps register themselves. \`rm\` also takes everybody's access of that app back, at once. Without
--redirect, \`add\` makes a client for a service that asks at /oauth/introspect what a token is.`,
  },
};
