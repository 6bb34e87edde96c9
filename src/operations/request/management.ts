import type { Origin } from "../../config/file/check.ts";
import type { ListedValue } from "../../config/edit/config-listing.ts";
import type { ConfigDifference } from "../../config/edit/config-comparison.ts";
import type { EntryChange } from "../../config/entry/entry-change.ts";
import type { ServerTrial } from "../machine/servers/trial-result.ts";
import type { Surroundings } from "../machine/surroundings/surroundings.ts";
import type { EntryRules } from "../../config/entry/tool-rule.ts";

/**
 * The changes that those who run the gateway may make through REST. Absent in a gateway that another program is built
 * around.
 */
export interface Management {
  /** Reads the configuration file. Rejects with CONFIG_INVALID for one that cannot be read. */
  read(): Promise<ConfigFile>;
  /** Every setting with its value in force and where that comes from. Rejects with CONFIG_INVALID. */
  settings(): Promise<readonly SettingStanding[]>;
  /** Every value in force, servers' too, with where it comes from, without secrets. Rejects with CONFIG_INVALID. */
  values(): Promise<readonly ListedValue[]>;
  /**
   * A text with some values set or removed; comments and layout stay. Writes nothing. Throws CONFIG_INVALID for a text
   * in which that cannot be done.
   */
  edit(text: string, changes: readonly ConfigEdit[]): string;
  /** The file as it was before it was last saved by this gateway or its commands; undefined without such a copy. */
  previous(): Promise<string | undefined>;
  /** What a text in place of the file would mean. Never rejects because of the text. */
  check(text: string): Promise<ConfigCheck>;
  /**
   * Replaces the file, if it is still the one with this entity tag. Rejects with CONFIG_CHANGED otherwise, with
   * CONFIG_INVALID for a text that the gateway would refuse, and with CONFIG_UNWRITABLE.
   */
  save(text: string, etag: string): Promise<ConfigFile>;
  /** The servers' entries in the file as it is now. Rejects with CONFIG_INVALID for one that is no configuration. */
  entries(): Promise<ConfigEntries>;
  /**
   * Changes the file in one step, by what `plan` makes of it as it is then; comments and layout stay, and nothing is
   * written where there is nothing to change. Resolves to the entries after that. Rejects with what `plan` throws, with
   * CONFIG_INVALID where the gateway would refuse the text or an entry would become wrong, with CONFIG_CHANGED when
   * another program writes it at the same moment, and with CONFIG_UNWRITABLE.
   */
  changeEntries(plan: (now: ConfigEntries) => readonly EntryChange[]): Promise<ConfigEntries>;
  /** Orders on the machine of the gateway, beside those about its configuration file. */
  readonly machine: MachineOrders;
}

/** Files of AI clients, servers that are tried, logins in a browser of the machine. */
export interface MachineOrders {
  /** What it is done with: the gateway's configuration file and data directory, and its environment. */
  readonly place: Surroundings;
  /**
   * Does some work with code that is loaded for it. The signal aborts when the sender leaves, and when it takes too
   * long. Rejects with RATE_LIMITED while too much is done already.
   */
  order<T>(sender: AbortSignal, work: (code: MachineCode, signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Starts a server apart from the gateway, in a process of its own that ends with it. */
  tryServer(tried: TriedServer, signal: AbortSignal): Promise<ServerTrial>;
  /** Logs the machine's user in at a server. Throws CONFIG_INVALID where there is nothing to log in at. */
  logIn(server: string, signal: AbortSignal): Promise<void>;
  /** Forgets that login. Resolves to whether there was one. */
  logOut(server: string): Promise<boolean>;
}

export type MachineCode = typeof import("../machine/machine.ts");

/** A server of a configuration: of the file, or of a text in its place. */
export interface TriedServer {
  readonly key: string;
  readonly text?: { readonly file: string; readonly text: string } | undefined;
  /** Values of variables beside those of the environment. */
  readonly variables?: Readonly<Record<string, string>>;
}

export interface ConfigEntries {
  readonly file: string;
  /** In the order of the file. */
  readonly servers: readonly ConfigEntry[];
}

/** A server's entry, with its place in the file. */
export interface ConfigEntry extends Origin {
  readonly slug: string;
  /** Its name in the file. */
  readonly key: string;
  /** The entry as it may be shown: without secrets. */
  readonly shown: unknown;
  /** What it says of tools. */
  readonly rules: EntryRules;
  /** Why the server is off. */
  readonly problem: string | undefined;
}

/** One setting as it is in force. */
export interface SettingStanding {
  /** `toolyard.limits.sessions` */
  readonly path: string;
  /** Null where there is none; secrets are hidden. */
  readonly value: unknown;
  /** Where it comes from; a flag or variable (`given`) takes precedence over the file. */
  readonly from: "file" | "given" | "default";
  /** `file:line:column`, the flag, or the variable. */
  readonly origin: string;
  /** Whether a change takes effect at the next start only. */
  readonly needsRestart: boolean;
  /** What the gateway goes on with until then, where the file says something else by now; null otherwise. */
  readonly runsWith: unknown;
}

export interface ConfigEdit {
  readonly path: readonly string[];
  /** Undefined removes it. */
  readonly value?: unknown;
}

export interface ConfigFile {
  readonly file: string;
  /** Empty when there is no such file yet. */
  readonly text: string;
  readonly etag: string;
}

export interface ConfigCheck {
  /** Whether a gateway would serve with it. */
  readonly isUsable: boolean;
  readonly problems: readonly ConfigProblem[];
  /** The settings in force that it would change, without secrets. */
  readonly differences: readonly ConfigDifference[];
}

export interface ConfigProblem {
  /** From 1; null for a problem with no place in the file. */
  readonly line: number | null;
  readonly column: number | null;
  readonly message: string;
  /** Whether the gateway serves all the same, without the wrong part. */
  readonly isWarning: boolean;
}
