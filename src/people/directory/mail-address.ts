/** Whether a text has the form of an address; whose it is says whoever vouches for it. */
export function isMailAddress(text: string): boolean {
  return text.length <= 254 && /^[^\s@]+@[^\s@]+$/.test(text);
}
