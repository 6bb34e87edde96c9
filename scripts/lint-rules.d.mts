export const ownRules: { readonly lineLength: string; readonly downwards: string; readonly plainText: string };
