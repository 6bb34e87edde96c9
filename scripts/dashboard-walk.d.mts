import type { Page } from "playwright-core";

export function clientServers(
  root: string,
): Readonly<Record<string, { readonly command: string; readonly args: readonly string[] }>>;
export function walk(options: {
  readonly page: Page;
  readonly url: string;
  readonly look: (step: string) => Promise<void>;
  readonly useClient: () => Promise<void>;
}): Promise<void>;
