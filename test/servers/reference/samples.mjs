// The smallest valid picture and sound, for tools and resources that return binary content.

/** One red pixel, PNG, base64. */
export const pngBase64 =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/** A WAV header without samples, base64. */
export const wavBase64 = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQAAAAA=";

/** @param {string} value */
export const text = (value) => ({ type: "text", text: value });
export const image = { type: "image", data: pngBase64, mimeType: "image/png" };
export const audio = { type: "audio", data: wavBase64, mimeType: "audio/wav" };

/** A tool result of these content blocks. @param {...object} content */
export const result = (...content) => ({ content });
