/** Reads what an endpoint answers, as UTF-8. Rejects with what `tooLong` makes for more than `limit` bytes. */
export async function readAnswerText(response: Response, limit: number, tooLong: () => Error): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > limit) throw tooLong();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
