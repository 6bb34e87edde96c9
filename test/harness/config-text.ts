import { expect } from "vitest";
import type { Config } from "../../src/config/config.ts";
import { buildConfig, type LoadOptions } from "../../src/config/load.ts";

/** Where the file is said to be: nothing is read from there. */
export const configDirectory = "/conf";

/** The configuration that this text of a file makes, with nothing in the environment and no flags unless given. */
export async function loadText(text: string, options: Partial<LoadOptions> = {}): Promise<Config> {
  const homeDirectories = { config: "/home-config", data: "/home-data" };
  return buildConfig(
    { file: `${configDirectory}/toolyard.json`, text },
    { cwd: configDirectory, env: {}, flags: {}, homeDirectories, cores: 2, ...options },
  );
}

/** The same for a value that is written as JSON. */
export async function loadValue(value: unknown, options: Partial<LoadOptions> = {}): Promise<Config> {
  return await loadText(JSON.stringify(value), options);
}

/** What is said of a text that is refused, without the file's folder. */
export async function refusalOf(text: string, options: Partial<LoadOptions> = {}): Promise<string> {
  const thrown = await loadText(text, options).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(thrown).toMatchObject({ code: "CONFIG_INVALID" });
  return (thrown as Error).message.replaceAll(`${configDirectory}/`, "");
}
