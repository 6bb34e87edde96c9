export interface Requirement {
  readonly level: "MUST" | "MUST NOT" | "SHOULD" | "SHOULD NOT" | "MAY";
  readonly text: string;
  readonly tests: readonly string[];
}
export interface Section {
  readonly section: string;
  readonly title: string;
  readonly requirements: readonly Requirement[];
}
export declare const sections: readonly Section[];
