export interface TestTitle {
  readonly file: string;
  readonly title: string;
}
export declare function testTitles(root: string): TestTitle[];
