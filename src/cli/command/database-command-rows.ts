import { common, type Command, type Options } from "./command-row.ts";

const options: Options = { ...common, json: { about: "print one JSON object" } };

/** Commands about the databases themselves. */
export const upkeepCommandRows: Readonly<Record<string, Command>> = {
  trust: {
    words: 1,
    usage: "toolyard trust [PATH] [options]",
    about: "Allows a configuration file that commands find in the working directory.",
    options: {
      list: { about: "list the files that you allowed" },
      forget: { word: "PATH", about: "allow this file, or the files of this folder, no longer" },
      yes: { short: "y", about: "do not ask" },
      json: { about: "with --list: print each as one line of JSON" },
    },
    notes: `A toolyard.json, mcp.json or .mcp.json of the working directory is used only after a yes, on the terminal or by this
command: it names programs that are started with your rights. A file that changes has to be allowed again. A file that
--config names, and your own one, need no yes. PATH is a file or a folder (default: the working directory).`,
    load: async () => (await import("../short-commands.ts")).shortCommands.trust,
  },
  backup: {
    words: 1,
    usage: "toolyard backup FILE [options]",
    about: "Writes people, rights and audit into a file, also while a gateway runs.",
    options,
    notes: `The file is written beside its name and renamed when it is whole. Records of calls are not in it, and keys
only in encrypted form. A PostgreSQL is backed up with pg_dump.`,
    load: async () => (await import("../short-commands.ts")).shortCommands.backup,
  },
  restore: {
    words: 1,
    usage: "toolyard restore FILE [options]",
    about: "Puts a backup in force while no gateway runs, and verifies its audit.",
    options,
    notes: `What was there before is kept beside it. A file of a newer version is refused with code 2, as is a damaged
one, and nothing changes.`,
    load: async () => (await import("../short-commands.ts")).shortCommands.restore,
  },
  db: {
    words: 1,
    usage: "toolyard db [check|migrate] [options]",
    about: "Looks through the databases, or brings them up to date before a gateway starts.",
    options,
    notes: `It ends with code 1 when something is wrong with a database. A gateway that starts migrates by itself.`,
    load: async () => (await import("../short-commands.ts")).shortCommands.db,
  },
};
