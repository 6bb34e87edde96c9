/** Endings that make a name a secret's, without the marks between words: `accessToken`, `x-api-key`, `DB_PASSWORD`. */
const endings =
  /(?:passwords?|passwd|passphrases?|passcodes?|secrets?|token|(?:access|refresh|auth|api|bearer|session)tokens|(?:api|access|secret|private|signing|encryption|ssh|master)keys?|authorization|cookies?|credentials?)(?:value|text|string|hash|plain|plaintext|base64|confirm|confirmation|\d{1,3})?$/;

/** Last words that are too short to be looked for inside others: `spin` and `author` are no secrets. */
const lastWords: ReadonlySet<string> = new Set(["pin", "otp", "totp", "pwd", "cvv", "cvc", "auth", "jwt", "pw"]);

/**
 * Whether the name of a member says that its value is a secret. It errs on the side of secrecy, but not with counts:
 * `maxTokens` and `passwordLength` are none.
 */
export function isSecretName(name: string): boolean {
  if (name.length > longestName) return false;
  if (endings.test(name.replace(/[^A-Za-z0-9]+/g, "").toLowerCase())) return true;
  const words = name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").match(/[A-Za-z]+/g) ?? [];
  const last = words.at(-1)?.toLowerCase();
  if (last === undefined) return false;
  return lastWords.has(last) || (last === "code" && lastWords.has(words.at(-2)?.toLowerCase() ?? ""));
}

/**
 * The same for a variable, a header or an option of a server's entry, where a key opens something: `WEATHER_KEY`. In
 * data it names a row as often.
 */
export function isSecretSetting(name: string): boolean {
  return isSecretName(name) || (name.length <= longestName && /[_-]keys?$/i.test(name));
}

/** Longer ones are data. */
const longestName = 200;
