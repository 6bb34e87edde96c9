export function installFrameworks(): Promise<string>;
