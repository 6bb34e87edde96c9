import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { compareConfigs } from "../../config/edit/config-comparison.ts";
import { openConfigFile, readPrevious, saveConfig, type EditableConfig } from "../../config/edit/config-edit.ts";
import type { Config } from "../../config/config.ts";
import { problemsOf } from "../../config/file/problems.ts";
import { placedRows } from "../../config/rows/row-reading.ts";
import { createConfigSecrets } from "../../config/secrets.ts";
import { settingsTable } from "../../config/settings/settings-table.ts";
import type {
  ConfigCheck,
  ConfigFile,
  ConfigProblem,
  Management,
  SettingStanding,
} from "../../operations/request/management.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { redactTexts } from "../../records/redaction/redacted-value.ts";
import { createRedaction } from "../../records/redaction/redaction.ts";
import { listValues, type StartedWith } from "./config-values.ts";
import { createEntryChanges, editText } from "./entry-changes.ts";
import type { GatewayParts } from "../gateway-parts.ts";

export interface ConfigEditorDeps {
  readonly gateway: Pick<GatewayParts, "config" | "redaction">;
  /** Where the file is, or would be made. */
  readonly file: () => string;
  /** What a text would mean, with the flags and variables of the start. Rejects with CONFIG_INVALID. */
  readonly loadText: (text: string) => Promise<Config>;
  /** Called before the file is written. */
  readonly beforeSave: (opened: EditableConfig, text: string) => Promise<void>;
  /** The configuration of the start. */
  readonly started: Config;
  readonly startedWith: StartedWith;
}

/** The configuration file, for the operator of the gateway: as text, which keeps comments and layout. */
export function createConfigEditor(deps: ConfigEditorDeps): Omit<Management, "machine"> {
  const { gateway, file, loadText, beforeSave, started } = deps;

  async function check(text: string): Promise<ConfigCheck> {
    const known = gateway.redaction.text;
    try {
      const next = await loadText(text.trim() === "" ? "{}" : text);
      const unknown = createRedaction({ secrets: createConfigSecrets(() => next) }).text;
      const hide = (shown: string): string => unknown(known(shown));
      return {
        isUsable: true,
        problems: next.warnings.map((warning) => toProblem(hide(warning), true)),
        differences: redactTexts(compareConfigs({ current: gateway.config(), started, next }), hide),
      };
    } catch (error) {
      const problems = problemsOf(error).map((problem) => toProblem(known(problem), false));
      return { isUsable: false, problems, differences: [] };
    }
  }

  async function settings(): Promise<readonly SettingStanding[]> {
    const current = gateway.config();
    const listed = new Map((await listValues(current, deps.startedWith)).map((row) => [row.path, row]));
    const atStart = new Map((await listValues(started, deps.startedWith)).map((row) => [row.path, row.value]));
    return placedRows(settingsTable).map(({ path: steps, row }) => {
      const path = ["toolyard", ...steps].join(".");
      const { value = null, origin = "default" } = listed.get(path) ?? {};
      const needsRestart = row.isReadAtStart === true;
      const before = needsRestart ? (atStart.get(path) ?? null) : null;
      const runsWith = isDeepStrictEqual(before, value) ? null : before;
      return { path, value, origin, from: fromOf(origin, current.file), needsRestart, runsWith };
    });
  }

  return {
    settings,
    values: async () => await listValues(gateway.config(), deps.startedWith),
    edit: (text, changes) =>
      editText(
        { file: file(), text },
        changes.map(({ path, value }) => ({ path, value })),
      ),
    ...createEntryChanges({ file, loadText, beforeSave, hideKnown: (text) => gateway.redaction.text(text) }),
    previous: async () => await readPrevious(file()),
    read: async () => toFile(await openConfigFile(file())),
    check,
    async save(text, etag) {
      const opened = await openConfigFile(file());
      const now = toFile(opened);
      if (now.etag !== etag)
        throw new GatewayError("CONFIG_CHANGED", `${now.file} was changed by somebody else in the meantime`, {
          data: { current: { text: now.text, etag: now.etag } },
        });
      const { isUsable, problems } = await check(text);
      if (!isUsable) throw new GatewayError("CONFIG_INVALID", problems[0]?.message ?? "the text is no configuration");
      await beforeSave(opened, text);
      await saveConfig(opened, text);
      return toFile({ ...opened, text });
    },
  };
}

function fromOf(origin: string, file: string | undefined): SettingStanding["from"] {
  if (origin === "default") return "default";
  return file !== undefined && origin.startsWith(`${file}:`) ? "file" : "given";
}

function toFile({ file, text }: Pick<EditableConfig, "file" | "text">): ConfigFile {
  return { file, text, etag: `"${createHash("sha256").update(text).digest("base64url").slice(0, 27)}"` };
}

/** Problems begin with their place: `/home/me/toolyard.json:3:5: mcpServers.x: why`. */
function toProblem(text: string, isWarning: boolean): ConfigProblem {
  const place = /^.*?:(\d+):(\d+): /s.exec(text);
  if (place === null) return { line: null, column: null, message: text, isWarning };
  return { line: Number(place[1]), column: Number(place[2]), message: text.slice(place[0].length), isWarning };
}
