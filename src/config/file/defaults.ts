/**
 * The most bytes that a configuration file may have. It is read whole and parsed at once; a real one is below 100
 * KiB.
 */
export const configFileBytes = 5 * 1024 * 1024;
