export declare const clients: readonly { readonly name: string }[];
