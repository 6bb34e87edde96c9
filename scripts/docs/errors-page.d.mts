export declare function errorsPage(
  failures: Readonly<
    Record<string, { readonly http: number; readonly rpc: number; readonly retry: boolean; readonly hint: string }>
  >,
): string;
