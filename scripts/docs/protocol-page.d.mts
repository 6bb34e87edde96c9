import type { Section } from "../../test/protocol/requirements.mjs";
import type { TestTitle } from "./test-titles.mjs";

export interface HeldSection {
  readonly section: string;
  readonly title: string;
  readonly rows: readonly {
    readonly level: string;
    readonly text: string;
    readonly held: readonly TestTitle[];
    readonly missing: readonly string[];
  }[];
}
export declare function heldBy(sections: readonly Section[], titles: readonly TestTitle[]): readonly HeldSection[];
export declare function protocolPage(held: readonly HeldSection[]): string;
