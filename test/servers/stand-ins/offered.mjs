// What every stand-in offers: one tool, so that only the SDK makes a difference.

export const offered = {
  tools: [
    {
      name: "add",
      description: "Adds two numbers",
      inputSchema: {
        type: "object",
        properties: { a: { type: "number" }, b: { type: "number" } },
        required: ["a", "b"],
      },
    },
  ],
  call: ({ arguments: { a, b } = {} }) => ({ content: [{ type: "text", text: String(a + b) }], isError: false }),
};
