import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const fromRoot = /`((?:src|web|test|bench|scripts|docs|examples)\/[\w./-]*)`/g;
/** Where the rooms are explained their files are named without `src/`. */
const fromSource = /`((?!(?:web|test|bench|scripts)\/)[\w-]+\/[\w./-]+\.ts)`/g;

test.each(["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "AGENTS.md", ...pagesIn("docs"), ...pagesIn("examples")])(
  "every file and folder of the repository that %s names is there",
  (page) => {
    const text = textOf(page);
    const named = [
      ...[...text.matchAll(fromRoot)].map(([, path = ""]) => path),
      ...[...text.matchAll(fromSource)].map(([, path = ""]) => (path.startsWith("src/") ? path : `src/${path}`)),
    ];
    expect(named.filter((path) => !existsSync(`${root}${path}`))).toEqual([]);
  },
);

test("every file and room that the architecture pages name is there, also without its folder", () => {
  const names = new Set(
    ["src", "web/src", "scripts", "test", "bench"]
      .flatMap((folder) => readdirSync(`${root}${folder}`, { recursive: true, encoding: "utf8" }))
      .map((file) => basename(file)),
  );
  const missing = ["ARCHITECTURE.md", ...pagesIn("docs/architecture")].flatMap((page) => {
    const text = textOf(page);
    const files = [...text.matchAll(/`([\w.-]+\.(?:ts|mjs|tsx|wat))`/g)].map(([, name = ""]) => name);
    const rooms = [
      ...text.matchAll(/`((?!(?:src|web|test|bench|scripts|docs|examples|dist)\/)[a-z][\w-]*(?:\/[\w-]+)+)\/?`/g),
    ];
    return [
      ...files.filter((name) => !names.has(name)),
      ...rooms.map(([, path = ""]) => path).filter((path) => isInSource(path) && !existsSync(`${root}src/${path}`)),
    ].map((name) => `${page}: ${name}`);
  });
  expect(missing).toEqual([]);
});

/** Without the tables of a wing's rooms, which name them from the wing: test/lint/rooms.test.ts compares these. */
function textOf(page: string): string {
  return readFileSync(`${root}${page}`, "utf8").replace(/<!-- rooms: [^]*?<!-- end of rooms -->/, "");
}

/** Whether a path begins with a wing: other texts with slashes are addresses and names of packages. */
function isInSource(path: string): boolean {
  return existsSync(`${root}src/${path.split("/")[0]}`);
}

function pagesIn(folder: string): readonly string[] {
  return readdirSync(`${root}${folder}`, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `${folder}/${name}`);
}
