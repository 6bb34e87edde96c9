// What may be in the published package: whatever fits none of these is there by mistake.
const wanted = [
  /^(?:LICENSE|README\.md|CHANGELOG\.md|package\.json)$/,
  /^dist\/web\/(?:index\.html\.br|THIRD-PARTY-NOTICES\.txt|assets\/[\w-]+\.(?:js|css|svg)\.br)$/,
  /^dist\/cli\/(?:[\w.-]+\.js|re2js\.cjs|o200k-ranks\.json\.br)$/,
  /^dist\/embedded\/toolyard\.js$/,
  /^dist\/types\/[\w-]+\.d\.ts$/,
  /^dist\/sqlite\/(?:binaries\.json|(?:darwin|linux|win32)-[\w-]+\.node\.br)$/,
  /^dist\/build-id\.txt$/,
  /^dist\/(?:THIRD-PARTY-NOTICES\.txt|sbom\.cdx\.json)$/,
  /^docs\/(?:exposures\/)?[\w-]+\.(?:md|svg)$/,
  /^docs\/(?:grafana|toolyard\.schema)\.json$/,
  /^examples\/(?:[\w-]+\/)*[\w-]+\.(?:md|mjs|json|csv|txt)$/,
];

/** What must be in it, besides the files of the first list. */
export const needed = [
  "LICENSE",
  "README.md",
  "CHANGELOG.md",
  "dist/build-id.txt",
  "dist/cli/main.js",
  "dist/cli/trial-main.js",
  "dist/cli/sql-worker.js",
  "dist/cli/re2js.cjs",
  "dist/cli/o200k-ranks.json.br",
  "dist/embedded/toolyard.js",
  "dist/types/toolyard.d.ts",
  "dist/web/index.html.br",
  "dist/sqlite/binaries.json",
  "dist/sqlite/linux-x64-glibc.node.br",
  "dist/sqlite/linux-arm64-musl.node.br",
  "dist/sqlite/darwin-arm64.node.br",
  "dist/sqlite/win32-x64.node.br",
  "dist/THIRD-PARTY-NOTICES.txt",
  "dist/sbom.cdx.json",
  "docs/toolyard.schema.json",
  "examples/mcp.json",
];

/** One sentence for each file that is missing, and for each that should not be there. */
export function contentProblems(paths) {
  return [
    ...needed.filter((path) => !paths.includes(path)).map((path) => `${path} is missing in the package`),
    ...paths.filter((path) => !wanted.some((form) => form.test(path))).map((path) => `${path} is in the package`),
  ];
}
