// The package `yaml` is loaded late through this file: where a package of CommonJS is bundled, `import()` of the
// package itself gives a module without names.
export { isNode, LineCounter, parseDocument } from "yaml";
