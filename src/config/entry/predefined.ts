import { basename, dirname, sep } from "node:path";
import type { Document } from "../file/document.ts";
import type { Variables } from "../file/substitution.ts";

export interface Predefined {
  readonly names: Variables;
  /** Default values of inputs that are passwords. */
  readonly secrets: readonly string[];
}

/** Folders in which editors keep a project's settings. The project is the folder that contains them. */
const settingsFolders: readonly string[] = [".vscode", ".cursor", ".roo", ".gemini", ".kiro", ".qwen"];

/**
 * What VS Code and Cursor fill in without any variable: `workspaceFolder`, `userHome` and so on, and the defaults of
 * `inputs` as `input:id`.
 */
export function predefinedNames(document: Document, directory: string, env: Variables): Predefined {
  const workspaceFolder = settingsFolders.includes(basename(directory)) ? dirname(directory) : directory;
  const inputs = [...inputsAt(document, ["inputs"]), ...inputsAt(document, ["mcp", "inputs"])];
  const defaults = inputs.filter((input) => typeof input["default"] === "string");
  return {
    names: {
      workspaceFolder,
      workspaceFolderBasename: basename(workspaceFolder),
      // Read only when a file refers to it, because the values that a file refers to decide who may share a gateway.
      get userHome() {
        return env["HOME"] || env["USERPROFILE"] || undefined;
      },
      pathSeparator: sep,
      "/": sep,
      ...Object.fromEntries(defaults.map((input) => [`input:${String(input["id"])}`, input["default"] as string])),
    },
    secrets: defaults.filter((input) => input["password"] === true).map((input) => input["default"] as string),
  };
}

function inputsAt(document: Document, path: readonly string[]): Readonly<Record<string, unknown>>[] {
  const value = document.value(path);
  return Array.isArray(value) ? value.filter((input) => typeof input === "object" && input !== null) : [];
}
