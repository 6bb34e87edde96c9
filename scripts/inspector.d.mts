export declare function inspectorCli(): Promise<{ readonly node: string; readonly file: string }>;
