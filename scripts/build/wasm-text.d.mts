/** The TypeScript module that holds what text-search.wat compiles to. */
export function textSearchModule(): Promise<string>;
