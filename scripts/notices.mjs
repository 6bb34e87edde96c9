// The licences of what is bundled: each package whose code came into dist/, with the texts that must go with it.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The folders of the packages whose code is in the outputs of an esbuild build. */
function bundledFolders(metafile) {
  const folders = new Set();
  for (const { inputs } of Object.values(metafile.outputs)) {
    for (const [file, { bytesInOutput }] of Object.entries(inputs)) {
      const [folder] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? [];
      if (folder !== undefined && bytesInOutput > 0) folders.add(folder);
    }
  }
  return folders;
}

/** What is in the binaries of dist/sqlite/: the package that they come from, and what it was compiled with. */
const compiledFolders = ["node_modules/@photostructure/sqlite", "node_modules/node-addon-api"];
/** SQLite itself is in the public domain and asks for no notice. */
const sqliteNotice =
  "The binaries in dist/sqlite/ contain SQLite, which is in the public domain (https://sqlite.org/copyright.html).";

/** The packages whose code is in dist/: folder, name, version and licence, in the order of their names. */
export function bundledPackages(metafile, root) {
  const folders = [...new Set([...bundledFolders(metafile), ...compiledFolders])].sort((left, right) =>
    left < right ? -1 : 1,
  );
  return folders.map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
    return { folder, name, version, license };
  });
}

/** Some packages have it at the end of their README only: the text of MIT, which begins with who has the rights. */
function licenceInReadme(path) {
  const [, text] = /^##? licen[cs]e\s+([\s\S]+)$/im.exec(existsSync(path) ? readFileSync(path, "utf8") : "") ?? [];
  return text?.includes("Copyright (c)") && text.includes("THE SOFTWARE IS PROVIDED") ? text.trim() : undefined;
}

/** Of packages that name the MIT licence and do not bring its text. */
const mit = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

/** Packages of which we know that the licence they name is all that they bring. */
const withoutText = new Set(["@cfworker/json-schema", "koa-compose"]);

function usualText(name, license, author) {
  if (!withoutText.has(name) || license !== "MIT")
    throw new Error(`${name} (${license}) has no licence text: it cannot be bundled`);
  return `Copyright (c) ${author ?? `the authors of ${name}`}\n\n${mit}`;
}

/** Throws when a package has no licence text: then it cannot be bundled. */
function textsOf(packages, root) {
  // Families of packages have one text, which is needed once.
  const named = new Map();
  for (const { folder, name, version, license, author } of packages) {
    const files = readdirSync(join(root, folder)).filter((entry) => /^(licen[cs]e|notice)(\.(md|txt))?$/i.test(entry));
    const texts = files.map((file) => readFileSync(join(root, folder, file), "utf8").trim());
    if (!files.some((file) => /^licen/i.test(file)))
      texts.push(licenceInReadme(join(root, folder, "README.md")) ?? usualText(name, license, author));
    const text = texts.join("\n\n");
    named.set(text, [...(named.get(text) ?? []), `${name} ${version} (${license})`]);
  }
  return [...named].map(([text, names]) => `${names.join("\n")}\n\n${text}\n`);
}

const line = `\n${"-".repeat(80)}\n\n`;

export function toNotices(packages, root) {
  return `Toolyard contains code of these packages.\n\n${[...textsOf(packages, root), `${sqliteNotice}\n`].join(line)}`;
}

/** Those of the packages whose code is in the dashboard, by their folders. */
export function toWebNotices(folders) {
  const packages = folders.map((folder) => {
    const { name, version, license, author } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return { folder, name, version, license, author: author?.name ?? author };
  });
  return `Toolyard's dashboard contains code of these packages.\n\n${textsOf(packages, "/").join(line)}`;
}
