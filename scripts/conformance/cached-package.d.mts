/**
 * The file `inside` of the packages that `spec` names, installed into a folder of .cache/ unless it is there already.
 */
export function cachedPackage(folder: string, spec: string, inside: string): Promise<string>;
