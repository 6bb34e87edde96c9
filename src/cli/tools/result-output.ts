import { writeFile } from "node:fs/promises";
import { parse, resolve } from "node:path";
import { countText } from "../../kernel/text/number-text.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { CommandContext } from "../command/command-context.ts";
import { isOn, textOption } from "../../config/given.ts";
import { plainLines, plainText } from "../../kernel/text/plain-text.ts";
import { readPieces, type ResultPiece } from "./result-pieces.ts";

/**
 * Prints a result, and resolves to the exit code: 1 where the tool failed, whose text then goes to stderr. With
 * `--json` the result is printed as it came. `--output` gets the content that is no text, otherwise the text. Rejects
 * with CONFIG_INVALID when it cannot be written.
 */
export async function printResult(context: CommandContext, json: string): Promise<number> {
  const { pieces, isError } = readPieces(json);
  const file = textOption(context, "output");
  const isSaved = file !== undefined && !isError;
  const saved = isSaved ? await save(pieces, resolve(context.cwd, file)) : new Set<ResultPiece>();
  if (isOn(context, "json")) {
    process.stdout.write(`${json}\n`);
    return isError ? 1 : 0;
  }
  const stream = isError ? process.stderr : process.stdout;
  for (const piece of pieces) if (!saved.has(piece)) stream.write(`${toText(piece, stream.isTTY)}\n`);
  return isError ? 1 : 0;
}

function toText(piece: ResultPiece, isTerminal: boolean): string {
  switch (piece.kind) {
    case "text":
      // For a program every byte counts, for a terminal some of them are commands.
      return isTerminal ? plainLines(piece.text).join("\n") : piece.text.replace(/\n$/, "");
    case "binary":
      return plainText(`${piece.what}: ${describe(piece)}; --output FILE saves it`);
    case "link":
      return plainText(`${piece.uri}${piece.about === "" ? "" : `  ${piece.about}`}`);
  }
}

type Binary = Extract<ResultPiece, { kind: "binary" }>;

function describe({ mimeType, bytes }: Pick<Binary, "mimeType" | "bytes">): string {
  return `${mimeType}, ${countText(bytes.length)} bytes`;
}

/** The first in the file itself, the others beside it: `chart.png`, `chart-2.png`. */
async function save(pieces: readonly ResultPiece[], file: string): Promise<ReadonlySet<ResultPiece>> {
  const binaries = pieces.filter((piece) => piece.kind === "binary");
  for (const [at, piece] of binaries.entries()) await write(numbered(file, at), piece.bytes, describe(piece));
  if (binaries.length > 0) return new Set(binaries);
  const texts = pieces.filter((piece) => piece.kind === "text");
  const bytes = Buffer.from(texts.map(({ text }) => text).join("\n"), "utf8");
  await write(file, bytes, `text, ${countText(bytes.length)} bytes`);
  return new Set(texts);
}

function numbered(file: string, at: number): string {
  const { dir, name, ext } = parse(file);
  return at === 0 ? file : resolve(dir, `${name}-${at + 1}${ext}`);
}

async function write(file: string, bytes: Buffer, what: string): Promise<void> {
  try {
    await writeFile(file, bytes);
  } catch (error) {
    throw new GatewayError(
      "CONFIG_INVALID",
      `--output: ${file} cannot be written: ${error instanceof Error ? error.message : String(error)}`,
      { hint: "Name a file in a folder that exists." },
    );
  }
  process.stderr.write(`saved ${file}: ${plainText(what)}\n`);
}
