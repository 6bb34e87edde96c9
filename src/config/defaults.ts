/** The file itself, in bytes. Read whole and parsed at once; a real one is below 100 KiB. */
export const configFileBytes = 5 * 1024 * 1024;
