/** A block of code, with the line that it begins on. */
export interface CodeBlock {
  /** What stands behind the fence, such as `json`; empty for an indented block. */
  readonly language: string;
  readonly content: string;
  readonly line: number;
}
export function codeBlocks(text: string): CodeBlock[];
/** Code within sentences. */
export function codeSpans(text: string): { readonly content: string; readonly line: number }[];
