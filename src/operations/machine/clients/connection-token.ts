import type { PlannedEdit } from "../../../config/clients/connect/client-edit.ts";
import { openClientFile, planEdit } from "../../../config/clients/connect/client-edit.ts";
import { valueAt } from "../../../config/clients/connect/client-text.ts";
import type { EntryChange } from "../../../config/entry/entry-change.ts";
import type { Config } from "../../../config/config.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { createToken, hashToken } from "../../../people/identity/token.ts";

/** The token that a client sends, and what has to be written so that the gateway takes it. */
export interface ConnectionToken {
  readonly token: string;
  /** The change of our own configuration. Undefined where it knows the token already. */
  readonly edit: PlannedEdit | undefined;
  readonly note: string;
}

/** Which token is wanted. */
export interface TokenAsk {
  readonly token?: string | undefined;
  /** Whose it is to be, among the people of the configuration. */
  readonly principal?: string | undefined;
  /** The profile that it is to be for alone. */
  readonly profile?: string | undefined;
  /** Asks a person; undefined where there is none. */
  readonly askToken?: (() => Promise<string | undefined>) | undefined;
}

/** A bearer token (RFC 6750, section 2.1): it goes into files of several formats, and is hidden in all output. */
const tokenText = /^[A-Za-z0-9._~+/-]+=*$/;

/** A token that somebody gave. Throws CONFIG_INVALID for what no header can have. */
export function checkToken(given: string | undefined): string | undefined {
  if (given === undefined || tokenText.test(given)) return given;
  throw new GatewayError("CONFIG_INVALID", "the token that you gave cannot be sent as one", {
    hint: "A header has letters, digits and the characters - . _ ~ + / =, without spaces or quotation marks.",
  });
}

/**
 * The token for a client: the one that it has, the one that is given, or a new one, whose hash goes into the
 * configuration. Where people are configured and none is named, a person is asked for. Rejects with CONFIG_INVALID when
 * there is none to be had.
 */
export async function findToken(asked: TokenAsk, config: Config, before: string | undefined): Promise<ConnectionToken> {
  const given = checkToken(asked.token);
  if (given !== undefined) return { token: given, edit: undefined, note: "The client sends the token that you gave." };
  if (before !== undefined && knownHashes(config, asked.profile).has(hashToken(before)))
    return { token: before, edit: undefined, note: "The client keeps the token that it has." };
  const path =
    asked.profile === undefined
      ? placeOfHashes(asked.principal, config)
      : ["toolyard", "profiles", asked.profile, "tokenHashes"];
  if (config.file !== undefined && path !== undefined) {
    const made = createToken();
    const opened = await openClientFile(config.file, "jsonc");
    const written = valueAt(opened.values, path);
    const at = Array.isArray(written) ? written.length : 0;
    const change: EntryChange = { path: [...path, at], value: made.hash };
    const note = `The gateway requires a token: a new one goes into the client's file, and its hash into ${config.file}.`;
    return { token: made.token, edit: await planEdit(opened, [change]), note };
  }
  const typed = await asked.askToken?.();
  if (typed !== undefined) return { token: typed, edit: undefined, note: "The client sends the token that you gave." };
  throw new GatewayError("CONFIG_INVALID", "this gateway requires a token, and none can be made here", {
    hint: "In a terminal, give `toolyard connect` one in TOOLYARD_TOKEN, say with --principal whose it is, or connect with --stdio, which needs none.",
  });
}

/** Those that are for all that the client is to have, and for nothing else. */
function knownHashes({ settings, people }: Config, profile: string | undefined): ReadonlySet<string> {
  if (profile !== undefined) return new Set(settings.profiles[profile]?.tokenHashes);
  const all = [
    ...settings.auth.tokenHashes,
    ...[...people.principals.values()].flatMap(({ tokenHashes }) => tokenHashes),
  ];
  return new Set(all.map((hash) => (hash.startsWith("sha256:") ? hash : `sha256:${hash}`)));
}

/** Where hashes of new tokens are written: the local user's, or those of a person. Undefined when that is not clear. */
function placeOfHashes(principal: string | undefined, { people, settings }: Config): EntryChange["path"] | undefined {
  if (principal === undefined)
    return people.principals.size === 0 || settings.auth.tokenHashes.length > 0
      ? ["toolyard", "auth", "tokenHashes"]
      : undefined;
  if (people.principals.has(principal)) return ["toolyard", "principals", principal, "tokenHashes"];
  throw new GatewayError("CONFIG_INVALID", `no one is called ${JSON.stringify(principal)} in the configuration`, {
    hint: `There are: ${[...people.principals.keys()].slice(0, 20).join(", ") || "none"}.`,
  });
}
