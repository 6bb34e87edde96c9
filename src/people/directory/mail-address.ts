/** Whether a text has the form of an address; its owner is known from the provider that vouches for it. */
export function isMailAddress(text: string): boolean {
  return text.length <= 254 && /^[^\s@]+@[^\s@]+$/.test(text);
}
