import type { VariableDialect } from "./client-row.ts";

/** What texts of an entry are read with. */
export interface Spelling {
  readonly dialect: VariableDialect;
  /** The project's folder, where the file belongs to a project: `${workspaceFolder}` is that folder. */
  readonly project: string | undefined;
}

/** Every text of a value in our spelling of variables, and the references for which we have nothing. */
export interface Respelled {
  readonly value: unknown;
  /** As they stand in the file, such as `${command:pick}`. */
  readonly unknown: readonly string[];
}

/**
 * Translates references to variables, in every text of `value`, to `${NAME}` and `${input:id}`. All other text is kept
 * byte for byte. A client that fills in no variables still has them in its file when somebody expected it to, so that
 * those are kept as variables, too.
 */
export function respellVariables(value: unknown, spelling: Spelling): Respelled {
  const unknown = new Set<string>();
  const visit = (part: unknown): unknown => {
    if (typeof part === "string") return respell(part, spelling, unknown);
    if (Array.isArray(part)) return part.map(visit);
    if (typeof part !== "object" || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([key, member]) => [key, visit(member)]));
  };
  return { value: visit(value), unknown: [...unknown] };
}

function respell(text: string, { dialect, project }: Spelling, unknown: Set<string>): string {
  switch (dialect) {
    case "none":
    case "shell":
      return text;
    case "gemini":
      return text.replace(/\$([A-Za-z_]\w*)/g, "${$1}");
    case "continue":
      // `secrets` and `inputs` are filled in from the environment or from .env files.
      return text.replace(/\$\{\{\s*([\w.-]+)\s*\}\}/g, (whole, path: string) => {
        const name = /^(?:secrets|inputs|env)\.([A-Za-z_][\w-]*)$/.exec(path)?.[1];
        if (name === undefined) unknown.add(whole);
        return name === undefined ? whole : `\${${name}}`;
      });
    case "opencode":
      return text.replace(/\{(env|file):([^{}]{1,400})\}/g, (whole, kind: string, name: string) => {
        if (kind === "env" && /^[A-Za-z_]\w*$/.test(name)) return `\${${name}}`;
        unknown.add(whole);
        return whole;
      });
    case "editor":
      return text.replace(/\$\{([A-Za-z]+)(?::([^{}]{0,400}))?\}/g, (whole, kind: string, name?: string) => {
        if (kind === "env" && name !== undefined) return /^[A-Za-z_]\w*$/.test(name) ? `\${${name}}` : whole;
        if (kind === "workspaceFolder" && project !== undefined) return project;
        if (kind === "workspaceFolderBasename" && project !== undefined)
          return project.split(/[/\\]/).findLast((step) => step !== "") ?? project;
        if (isOnlyEditors(kind, name)) unknown.add(whole);
        return whole;
      });
  }
}

/** Whether only an editor can fill this in: `${workspaceFolder}` without a project, `${file:...}`, `${config:...}`. */
function isOnlyEditors(kind: string, name: string | undefined): boolean {
  if (name !== undefined) return kind !== "input";
  return /^(workspaceFolder|workspaceFolderBasename|file|relativeFile|selectedText)$/.test(kind);
}
