export interface SeenClient {
  readonly name: string;
  readonly package: string;
  readonly setup: string;
  readonly needs?: string;
  readonly version: string | null;
  readonly clientName: string | null;
  readonly revision: string | null;
  readonly offered: readonly string[];
  readonly offeredWithout: readonly string[];
  readonly own: readonly string[];
  readonly api: readonly string[];
  readonly problems: readonly string[];
  readonly team?: {
    readonly known?: "document" | "registration";
    readonly done: readonly string[];
    readonly said?: string;
    readonly failure?: string;
  };
}

export declare function clientsPage(
  profiles: Readonly<
    Record<
      string,
      {
        readonly product: string;
        readonly reason: string;
        readonly toolMeta: object;
        readonly ownResourceTools: boolean;
        readonly maxResultTokens?: number | undefined;
      }
    >
  >,
  seen: readonly SeenClient[],
): string;
