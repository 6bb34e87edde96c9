import { availableParallelism } from "node:os";
import { listConfig, type ListedValue } from "../../config/edit/config-listing.ts";
import type { Config } from "../../config/config.ts";
import { parseDocument } from "../../config/file/document.ts";
import { readConfigText } from "../../config/file/file.ts";
import type { ConfigFlags } from "../../config/given.ts";
import { createConfigSecrets } from "../../config/secrets.ts";
import type { Variables } from "../../config/file/substitution.ts";
import { redactTexts } from "../../records/redaction/redacted-value.ts";
import { createRedaction } from "../../records/redaction/redaction.ts";

/** How a command was started. */
export interface StartedWith {
  readonly flags: ConfigFlags;
  readonly env: Variables;
}

/**
 * Every value of a configuration with where it comes from, without secrets. Rejects with CONFIG_INVALID where the file
 * cannot be read any more.
 */
export async function listValues(current: Config, { flags, env }: StartedWith): Promise<readonly ListedValue[]> {
  const facts = { cores: availableParallelism(), isShared: current.people.principals.size > 0 };
  const { file } = current;
  const document = file === undefined ? undefined : parseDocument(await readConfigText(file), file);
  const { text } = createRedaction({ secrets: createConfigSecrets(() => current) });
  return listConfig({ config: current, document, flags, env, facts }).map((row) => ({
    ...row,
    value: redactTexts(row.value, text),
  }));
}
