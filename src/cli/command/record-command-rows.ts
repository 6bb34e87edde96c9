import { common, elsewhere, type Command } from "./command-row.ts";

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
    load: async () => (await import("../short-commands.ts")).shortCommands.events,
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
    load: async () => (await import("../short-commands.ts")).shortCommands.protocol,
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
    load: async () => (await import("../short-commands.ts")).shortCommands.audit,
  },
} as const satisfies Readonly<Record<string, Command>>;
