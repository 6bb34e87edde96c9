export interface TestTitle {
  readonly file: string;
  readonly title: string;
}
export declare function testTitles(root: string): TestTitle[];
export declare function groupTitles(root: string): TestTitle[];
export declare function isNamed(test: TestTitle, name: string): boolean;
