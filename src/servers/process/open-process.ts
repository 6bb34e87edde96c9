import { spawn, type ChildProcess, type SpawnOptions } from "node:child_process";
import { statSync } from "node:fs";
import path from "node:path";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";

/** What to start; `command` is looked up in PATH and gets its arguments unchanged. */
export interface ProcessSpec {
  readonly command: string;
  readonly args: readonly string[];
  readonly options: SpawnOptions & { readonly cwd: string };
}

/**
 * Starts a process without a shell, so that its arguments arrive byte for byte. When the promise resolves, the
 * program runs (exec has succeeded). Rejects with SPAWN_FAILED and the reason when it cannot be started. Later errors
 * of the handle are ignored; its `exit` event tells all.
 */
export async function openProcess({ command, args, options }: ProcessSpec): Promise<ChildProcess> {
  const attempt = { command, cwd: options.cwd };
  let child: ChildProcess;
  try {
    child = spawn(command, [...args], options);
  } catch (error) {
    throw toSpawnFailure(error, attempt);
  }
  const failed = new Promise<Error>((resolve) => child.on("error", resolve));
  if (child.pid === undefined) throw toSpawnFailure(await failed, attempt);
  return child;
}

interface SpawnAttempt {
  readonly command: string;
  readonly cwd: string;
}

/**
 * Why a command could not be started, as SPAWN_FAILED with one clear sentence (faults 64, 82). Never contains
 * arguments or environment.
 */
export function toSpawnFailure(error: unknown, attempt: SpawnAttempt): GatewayError {
  const code = errorCode(error);
  return new GatewayError("SPAWN_FAILED", `cannot start ${quote(attempt.command)}: ${explain(code, attempt)}`, {
    cause: error,
    data: { command: attempt.command, reason: code },
  });
}

function explain(code: string, { command, cwd }: SpawnAttempt): string {
  switch (code) {
    case "ENOENT":
      return explainMissing(command, cwd);
    case "EACCES":
    case "EPERM":
      return explainForbidden(command, cwd);
    case "ENOTDIR":
      return fileKind(cwd) === "directory"
        ? "a part of its path is not a directory"
        : `the working directory ${quote(cwd)} is not a directory`;
    case "EMFILE":
    case "ENFILE":
      return "no file descriptors are left (ulimit -n)";
    case "EAGAIN":
      return "no more processes may be started (ulimit -u, or the container's pids limit)";
    case "ENOMEM":
      return "not enough memory to start a process";
    case "E2BIG":
      return "its arguments and environment together are too long for this system";
    case "ERR_INVALID_ARG_VALUE":
      return "the command, an argument, a variable or the working directory holds a zero byte or is empty";
    default:
      return `the system answered ${code}`;
  }
}

/** The system reports ENOENT for three different problems. */
function explainMissing(command: string, cwd: string): string {
  if (fileKind(cwd) === "missing") return `the working directory ${quote(cwd)} does not exist`;
  if (!isPath(command)) return "there is no such command on its PATH";
  if (fileKind(path.resolve(cwd, command)) === "missing") return "there is no such file";
  return "the interpreter or loader that it names does not exist";
}

function explainForbidden(command: string, cwd: string): string {
  if (isPath(command) && fileKind(path.resolve(cwd, command)) === "directory")
    return "it is a directory, not a program";
  if (fileKind(cwd) === "other") return `the working directory ${quote(cwd)} may not be entered`;
  return "it may not be executed (no execute permission)";
}

function isPath(command: string): boolean {
  return command.includes("/") || (process.platform === "win32" && command.includes("\\"));
}

function fileKind(file: string): "directory" | "missing" | "other" {
  try {
    return statSync(file).isDirectory() ? "directory" : "other";
  } catch (error) {
    return errorCode(error) === "ENOENT" ? "missing" : "other";
  }
}

function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "UNKNOWN";
}

/** Quoted and cut, because a command is text from the configuration and may be anything. */
function quote(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);
}
