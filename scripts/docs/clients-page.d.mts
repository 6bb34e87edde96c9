export interface Answered {
  readonly answer: "yes" | "no" | "nothing";
  readonly shown: readonly string[];
  readonly readFirst: string | null;
  readonly read: string | null;
  readonly ran: number;
  readonly state: string;
  readonly via: string | null;
}

export interface SeenClient {
  readonly name: string;
  readonly package: string;
  readonly setup: string;
  readonly needs?: string;
  readonly allow?: string;
  readonly version: string | null;
  readonly tried?: string;
  readonly clientName: string | null;
  readonly revision: string | null;
  readonly api: readonly string[];
  readonly own: readonly string[];
  readonly others: number;
  readonly offered: readonly string[];
  readonly offeredAllowed?: readonly string[];
  readonly offeredWithout: readonly string[];
  readonly behind: readonly string[];
  readonly called: string | null;
  readonly waited: {
    readonly seconds: number;
    readonly arrived: boolean;
    readonly lostAfter?: number | null;
    readonly said?: string;
  } | null;
  readonly asked: string | null;
  readonly reached: { readonly characters: number; readonly of: number; readonly isTold: boolean } | null;
  readonly problems: readonly string[];
  readonly team?: {
    readonly known?: "document" | "registration";
    readonly done: readonly string[];
    readonly said?: string;
    readonly failure?: string;
  };
  readonly asking?: {
    readonly version: string;
    readonly tried: string;
    readonly way: "terminal" | "inbox";
    readonly answers: readonly Answered[];
    readonly headless?: Answered;
    readonly lookup?: { readonly lookup: string; readonly other: string; readonly ran: readonly string[] };
    readonly problems: readonly string[];
  };
  readonly transcripts?: readonly {
    readonly started: string;
    readonly ours: readonly string[];
    readonly others: number;
    readonly calls: readonly { readonly tool: string; readonly input: object; readonly answer: string }[];
  }[];
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
