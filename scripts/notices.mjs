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

/** Throws when a package has no licence text: then it cannot be bundled. */
function textsOf(packages, root) {
  return packages.map(({ folder, name, version, license }) => {
    const files = readdirSync(join(root, folder)).filter((entry) => /^(licen[cs]e|notice)(\.(md|txt))?$/i.test(entry));
    const texts = files.map((file) => readFileSync(join(root, folder, file), "utf8").trim());
    if (!files.some((file) => /^licen/i.test(file))) {
      const text = licenceInReadme(join(root, folder, "README.md"));
      if (text === undefined) throw new Error(`${name} ${version} has no licence text: it cannot be bundled`);
      texts.push(text);
    }
    return `${name} ${version} (${license})\n\n${texts.join("\n\n")}\n`;
  });
}

const line = `\n${"-".repeat(80)}\n\n`;

export function toNotices(packages, root) {
  return `Toolyard contains code of these packages.\n\n${[...textsOf(packages, root), `${sqliteNotice}\n`].join(line)}`;
}

/** Those of the packages whose code is in the dashboard, by their folders. */
export function toWebNotices(folders) {
  const packages = folders.map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return { folder, name, version, license };
  });
  return `Toolyard's dashboard contains code of these packages.\n\n${textsOf(packages, "/").join(line)}`;
}
