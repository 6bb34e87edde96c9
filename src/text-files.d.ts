/** Text files are bundled as strings: esbuild's loader `text` in the build, a plugin of vitest in tests. */
declare module "*.txt" {
  const text: string;
  export default text;
}
