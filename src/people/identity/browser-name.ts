/** In this order: most say that they are Chrome or Safari as well. */
const browsers: readonly (readonly [name: string, said: RegExp])[] = [
  ["Edge", /\bEdg(?:A|iOS)?\//],
  ["Opera", /\bOPR\//],
  ["Samsung Internet", /\bSamsungBrowser\//],
  ["Firefox", /\b(?:Firefox|FxiOS)\//],
  ["Chrome", /\b(?:(?:Headless)?Chrome|Chromium|CriOS)\//],
  ["Safari", /\bSafari\//],
];
const systems: readonly (readonly [name: string, said: RegExp])[] = [
  ["iPhone", /\biPhone\b/],
  ["iPad", /\biPad\b/],
  ["Android", /\bAndroid\b/],
  ["Windows", /\bWindows\b/],
  ["macOS", /\bMac OS X\b/],
  ["ChromeOS", /\bCrOS\b/],
  ["Linux", /\bLinux\b/],
];

/** What people call the browser that says this of itself, and its system: `Firefox on Linux`. Empty for neither. */
export function toBrowserName(userAgent: string | undefined): string {
  const nameIn = (rows: typeof browsers): string | undefined =>
    rows.find(([, said]) => said.test((userAgent ?? "").slice(0, longestAgent)))?.[0];
  const [browser, system] = [nameIn(browsers), nameIn(systems)];
  if (browser === undefined) return system === undefined ? "" : `A browser on ${system}`;
  return system === undefined ? browser : `${browser} on ${system}`;
}

/** It is anything that a peer sends. */
const longestAgent = 500;
