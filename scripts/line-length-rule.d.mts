export const widestLine: number;
