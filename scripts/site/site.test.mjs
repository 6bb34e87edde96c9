import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { buildSite } from "./build.mjs";
import { siteMap } from "./site-map.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "toolyard-site-"));
const site = join(scratch, "site");
afterAll(() => rmSync(scratch, { recursive: true }));
const written = buildSite(site);
const read = (page) => readFileSync(join(site, page), "utf8");

test("every page of docs/ stands in the navigation, once", () => {
  const listed = siteMap.flatMap(({ pages }) => pages.map(([file]) => file));
  const there = readdirSync(join(root, "docs"), { recursive: true })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name.replaceAll("\\", "/")}`);
  expect(listed.filter((file) => file.startsWith("docs/")).toSorted()).toEqual(there.toSorted());
  expect(new Set(listed).size).toBe(listed.length);
});

test.each(written)("every address in %s leads to a file of the site, and to a heading where it names one", (page) => {
  const missing = addresses(read(page)).filter((address) => {
    if (/^[a-z]+:/.test(address)) return false;
    const [path, anchor] = address.split("#").map(decodeURIComponent);
    const file = path === "" ? join(site, page) : join(site, dirname(page), path);
    if (!existsSync(file)) return true;
    return anchor !== undefined && !readFileSync(file, "utf8").includes(`id="${anchor}"`);
  });
  expect(missing).toEqual([]);
});

test.each(written)(
  "%s loads nothing from elsewhere, runs one script of the site, and says so to the browser",
  (page) => {
    const html = read(page);
    expect(html).toContain("default-src 'none'");
    const loaded = [...html.matchAll(/<(?:img|link|iframe|source|script)\b[^>]*(?:src|href)="([^"]*)"/g)].map(
      ([, to]) => to,
    );
    expect(loaded).not.toEqual([]);
    expect(loaded.filter((address) => /^[a-z]+:|^\/\//.test(address))).toEqual([]);
    expect(html.match(/<script/g)).toHaveLength(1);
    expect(html).toMatch(/<script src="(?:\.\.\/)*site\.js" defer><\/script>/);
    expect(html).not.toMatch(/<style| style="| on[a-z]+="/);
  },
);

test.each(written)("%s marks itself in the navigation and has one main heading", (page) => {
  const html = read(page);
  expect(html.match(/aria-current="page"/g)).toHaveLength(1);
  expect(html.match(/<h1/g)).toHaveLength(1);
});

test("the style sheet loads nothing either", () => {
  expect(read("site.css")).not.toMatch(/url\(|@import/);
});

function addresses(html) {
  return [...html.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, address]) => address.replaceAll("&amp;", "&"));
}
