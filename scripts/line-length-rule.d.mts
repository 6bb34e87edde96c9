export const widestLine: number;
export const lineLengthRule: string;
