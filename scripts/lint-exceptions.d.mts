export const sizeRules: Readonly<Record<string, readonly [string, Readonly<Record<string, unknown>>]>>;
export const sizeExceptions: Readonly<Record<string, string>>;
