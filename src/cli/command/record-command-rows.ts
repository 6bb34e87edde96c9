import { type Command, common, elsewhere, type Options } from "./command-row.ts";

/** What happens in a gateway, and who did it. */
export const recordCommandRows = {
  events: {
    words: 0,
    usage: "toolyard events -f [options]",
    about: "Prints what happens in the running gateway, as it happens.",
    options: {
      ...common,
      ...elsewhere,
      follow: { short: "f", about: "keep running until the gateway ends or the command is interrupted" },
      types: { word: "T,T", about: "only these types, such as `mcp.server.*,auth.denied` (default: all)" },
      json: { about: "print each event as one line of JSON" },
    },
  },
  protocol: {
    words: 0,
    usage: "toolyard protocol [options]",
    about: "Prints the messages between clients, the gateway and servers, as they pass.",
    options: {
      ...common,
      ...elsewhere,
      follow: { short: "f", about: "keep running, which it does in any case: nothing of earlier is kept" },
      server: { word: "S", about: "only what passes between the gateway and this server" },
      client: { word: "C", about: "only what passes between the gateway and clients of this name" },
      method: { word: "M", about: "only messages of this method, such as `tools/call`" },
      json: { about: "print each message as one line of JSON" },
    },
    notes: `Secrets are taken out, and of a long message the beginning is printed. Who manages the gateway sees the
messages of everybody, others those of their own clients and instances. The audit says who watched.`,
  },
  audit: {
    words: 1,
    usage: "toolyard audit [verify|export] [options]",
    about:
      "Lists who changed what and who was denied access, verifies that the list was not tampered with, or exports it.",
    options: {
      ...common,
      ...elsewhere,
      action: { word: "A", about: "only entries with this action, such as `config.apply`" },
      follow: { short: "f", about: "keep running, and show new entries as they come; only beside a running gateway" },
      limit: { word: "N", about: "how many of the latest entries (default: 50; with -f 10; an export has all)" },
      format: { word: "F", about: "of an export: ndjson (default) or csv" },
      json: { about: "one line of JSON for each entry" },
    },
    notes: `\`verify\` ends with code 1 when an entry was changed or removed, and says which. When no gateway runs, the
files are read directly; two gateways that run are told apart by --config.`,
  },
} as const satisfies Readonly<Record<string, Command>>;

const options: Options = { ...common, json: { about: "print one JSON object" } };

/** Commands about the databases themselves, and about gateways that share one. */
export const upkeepCommandRows: Readonly<Record<string, Command>> = {
  nodes: {
    words: 0,
    usage: "toolyard nodes [options]",
    about: "Lists the nodes of the cluster that the running gateway is in.",
    options: { ...options, ...elsewhere },
    notes: `A node whose lease has run out is silent, and one that has ended is dead and listed for an hour. docs/scale.md
is about running several gateways.`,
  },
  drain: {
    words: 1,
    usage: "toolyard drain NODE [options]",
    about: "Has a node of the cluster hand over its servers to the others, so that it can be stopped.",
    options: { ...options, ...elsewhere, resume: { about: "have a node that was drained take part again" } },
    notes: `It returns when the node has agreed, and \`toolyard nodes\` shows how many instances are left. The node still
answers its clients, but /readyz says 503, so that a balancer sends no more. A gateway that is stopped drains itself.`,
  },
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
  },
  backup: {
    words: 1,
    usage: "toolyard backup FILE [options]",
    about: "Writes people, rights and audit into a file, also while a gateway runs.",
    options,
    notes: `The file is written beside its name and renamed when it is whole. Records of calls are not in it, and keys
only in encrypted form. A PostgreSQL is backed up with pg_dump.`,
  },
  restore: {
    words: 1,
    usage: "toolyard restore FILE [options]",
    about: "Puts a backup in force while no gateway runs, and verifies its audit.",
    options,
    notes: `What was there before is kept beside it. A file that only a newer version may use is refused with code 2, as is
a damaged one, and nothing changes.`,
  },
  db: {
    words: 1,
    usage: "toolyard db [check|migrate] [options]",
    about: "Looks through the databases, or brings them up to date before a gateway starts.",
    options,
    notes: `It ends with code 1 when something is wrong with a database. A gateway that starts migrates by itself.`,
  },
};
