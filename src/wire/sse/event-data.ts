/** A server may have laid its JSON out over lines; each is a data line of its own (HTML, server-sent events). */
export function toEventData(message: string): string {
  return message.includes("\n") || message.includes("\r") ? message.replace(/\r\n|\r|\n/g, "\ndata: ") : message;
}
