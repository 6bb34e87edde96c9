/** What a transport can do. The code asks for these properties and never for the name of a transport. */
export interface TransportTraits {
  /** Its name in sentences: "this is a stdio server". */
  readonly label: string;
  /** How a configuration may name it, the usual spelling first. Case, dashes and underscores do not matter. */
  readonly spellings: readonly string[];
  /** What other clients call it. */
  readonly aliases: readonly string[];
  /**
   * Whether the server is a process on this machine, with command, arguments and variables in place of address and
   * headers. Such a server can crash.
   */
  readonly hasProcess: boolean;
  /** Whether it is stopped when idle and started on demand. */
  readonly mayIdle: boolean;
  /** Whether parameters that a tool's schema marks with `x-mcp-header` are also sent as headers. */
  readonly mirrorsHeaders: boolean;
  /** Whether the server may ask for a login. */
  readonly canLogIn: boolean;
  /** Whether announcements of a legacy server always arrive, because everything that it sends comes in one stream. */
  readonly isAlwaysHeard: boolean;
}

/**
 * Every transport. A new one needs a row here, a folder under `servers/upstream`, and a row in
 * `app/servers/connections.ts`; if its entries have a form of their own, the parser has to learn it, too.
 */
export const transports = {
  stdio: {
    label: "a stdio",
    spellings: ["stdio"],
    aliases: ["local"],
    hasProcess: true,
    mayIdle: true,
    mirrorsHeaders: false,
    canLogIn: false,
    isAlwaysHeard: true,
  },
  http: {
    label: "an HTTP",
    spellings: ["http", "streamable-http"],
    aliases: [],
    hasProcess: false,
    mayIdle: false,
    mirrorsHeaders: true,
    canLogIn: true,
    isAlwaysHeard: false,
  },
  sse: {
    label: "an SSE",
    spellings: ["sse"],
    aliases: [],
    hasProcess: false,
    mayIdle: false,
    mirrorsHeaders: true,
    canLogIn: true,
    isAlwaysHeard: false,
  },
} as const satisfies Readonly<Record<string, TransportTraits>>;

export type TransportKind = keyof typeof transports;
export const transportKinds = Object.keys(transports) as [TransportKind, ...TransportKind[]];

/** The kinds whose row has this trait. */
type KindsWith<Trait extends keyof TransportTraits> = {
  [Kind in TransportKind]: (typeof transports)[Kind][Trait] extends true ? Kind : never;
}[TransportKind];

export type ProcessKind = KindsWith<"hasProcess">;
export type RemoteKind = Exclude<TransportKind, ProcessKind>;

interface OfKind {
  readonly kind: TransportKind;
}

/** What this transport can do. */
export function traitsOf({ kind }: OfKind): TransportTraits {
  return transports[kind];
}

/** Whether servers of this kind are processes on this machine. */
export function isProcessKind(kind: TransportKind): kind is ProcessKind {
  return transports[kind].hasProcess;
}

/** Whether the server is a process on this machine. Narrows the type to transports with a command. */
export function hasProcess<T extends OfKind>(transport: T): transport is Extract<T, { readonly kind: ProcessKind }> {
  return isProcessKind(transport.kind);
}

/** Whether the server may ask for a login. Narrows the type to transports with an address. */
export function canLogIn<T extends OfKind>(
  transport: T,
): transport is Extract<T, { readonly kind: KindsWith<"canLogIn"> }> {
  return transports[transport.kind].canLogIn;
}

interface Addressed {
  readonly url: string;
  readonly urls?: readonly string[];
}

/** Every address of a remote server. */
export function addressesOf({ url, urls }: Addressed): readonly string[] {
  return urls ?? [url];
}

/** The server with each of its addresses as `map` makes it. */
export function withAddresses<T extends Addressed>(transport: T, map: (url: string) => string): T {
  const { url, urls } = transport;
  return { ...transport, url: map(url), ...(urls === undefined ? {} : { urls: urls.map(map) }) };
}

/** The kind that a configuration names. Undefined for an unknown name. */
export function kindNamed(name: string): TransportKind | undefined {
  const plain = plainName(name);
  return transportKinds.find((kind) => {
    const { spellings, aliases }: TransportTraits = transports[kind];
    return [...spellings, ...aliases].some((known) => plainName(known) === plain);
  });
}

/** `"stdio", "http", "streamable-http" or "sse"`. */
export function kindChoices(): string {
  const names = transportKinds.flatMap((kind) => transports[kind].spellings).map((name) => JSON.stringify(name));
  return `${names.slice(0, -1).join(", ")} or ${names.at(-1) ?? ""}`;
}

/** Makes `streamable-http`, `streamableHttp` (Cline) and `streamable_http` the same. */
function plainName(name: string): string {
  return name.toLowerCase().replace(/[-_ ]/g, "");
}
