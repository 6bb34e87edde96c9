import { common, elsewhere, type Command, type Options } from "./command-row.ts";

const ofTeam: Options = {
  ...common,
  ...elsewhere,
  team: { word: "TEAM", about: "the team; may be left out where there is only one" },
  json: { about: "print one JSON object" },
};

/** Commands about servers that teams install, and about their secrets. */
export const installCommandRows: Readonly<Record<string, Command>> = {
  install: {
    words: 1,
    usage: "toolyard install <template> --team TEAM [options]",
    about: "Installs a server for a team of a running gateway for teams.",
    options: {
      ...ofTeam,
      as: { word: "NAME", about: "the server's name in the team (default: the template's)" },
      set: { word: "PATH=VALUE", isRepeated: true, about: "a value of the team, such as `env.REGION=eu`" },
      lock: { word: "PATH", isRepeated: true, about: "a value that members cannot change" },
      scope: {
        word: "SCOPE",
        about: "user, shared or client: who shares a process (default: client if the template says so, otherwise user)",
      },
    },
    notes: `A template is one of \`toolyard template list\`, or \`file:NAME\` for a server of the configuration file.`,
  },
  uninstall: {
    words: 1,
    usage: "toolyard uninstall <server> --team TEAM [options]",
    about: "Takes a server away from a team, with everything that was set for it; its processes end.",
    options: ofTeam,
  },
  installations: {
    words: 0,
    usage: "toolyard installations [options]",
    about: "Lists the servers that teams installed, and the values missing before they can be used.",
    options: ofTeam,
  },
  template: {
    words: 2,
    usage: "toolyard template [list|add|change|rm] [NAME] [options]",
    about: "Lists, adds, changes and removes what teams can install.",
    options: {
      ...ofTeam,
      file: { word: "FILE", about: "add, change: JSON with `entry` and `fields`, or a `server.json` of the registry" },
      from: {
        word: "KIND",
        about: "add: which of the things that a `server.json` offers: npm, pypi, oci, nuget or remote",
      },
    },
    notes: `With --team, \`add\` makes one for that team alone.`,
  },
  secret: {
    words: 2,
    usage: "toolyard secret [list|set|rm] [NAME] --team TEAM [options]",
    about: "Sets the secrets of a team, which templates use as ${secret:NAME}. They are never shown.",
    options: ofTeam,
    notes: `\`set\` reads the secret from standard input, so that it is in no history and no list of processes.`,
  },
  key: {
    words: 1,
    usage: "toolyard key rotate [options]",
    about: "Makes a new key for the secrets of teams.",
    options: {
      ...common,
      ...elsewhere,
      data: { about: "also make new keys for all teams, and encrypt every secret again" },
      json: { about: "print one JSON object" },
    },
    notes: `With a key of your own, start the gateway with the new one in TOOLYARD_KEY and the old one in
TOOLYARD_KEY_PREVIOUS first; after this command the old one is not needed any more.`,
  },
};
