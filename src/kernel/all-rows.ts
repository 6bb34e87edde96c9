/** All rows of a list that is answered page by page, each with the cursor of the next. */
export async function allRows<Row, Limit extends number | string>(
  limit: Limit,
  read: (page: { readonly limit: Limit; readonly cursor?: string }) => Promise<{
    readonly rows: readonly Row[];
    readonly nextCursor: string | null;
  }>,
): Promise<readonly Row[]> {
  const all: Row[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const page: Awaited<ReturnType<typeof read>> = await read({ limit, ...(cursor === "" ? {} : { cursor }) });
    all.push(...page.rows);
    cursor = page.nextCursor;
  }
  return all;
}
