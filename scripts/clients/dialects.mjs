// The model APIs that command-line clients speak, each as far as a scripted model needs it: which tools a request
// offers, which results it brings back, and how a text or one call of a tool is answered, streamed or not.

/**
 * @typedef {{ name: string, description?: string, parameters?: { properties?: object }, namespace?: string }} Tool
 * @typedef {{ text: string } | { step: string, tool: Tool, input: object }} Move
 */

export function dialectOf(request, asked) {
  const path = request.url?.split("?")[0] ?? "";
  if (request.method !== "POST" || asked === undefined) return undefined;
  if (path.endsWith("/messages")) return anthropic;
  if (path.endsWith("/responses")) return responses;
  if (path.endsWith("/chat/completions")) return chat;
  if (/:(stream)?generateContent$/i.test(path)) return gemini(path.includes(":stream"));
  return undefined;
}

// The step stands in the id of its call, which comes back with the result.
const toId = (prefix, step) => `${prefix}${step}_${Math.random().toString(36).slice(2, 10)}`;
const stepOf = (id) => /_([a-z]+)_[a-z\d]{4,8}$/.exec(String(id))?.[1];

/** What a model reads of a result: its texts, and anything else as JSON. */
function textOf(value) {
  if (typeof value === "string") return value;
  const parts = Array.isArray(value) ? value : [value ?? ""];
  return parts.map((part) => (typeof part?.text === "string" ? part.text : JSON.stringify(part))).join("\n");
}

function stream(response, events) {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  for (const [name, data] of events) {
    if (name !== undefined) response.write(`event: ${name}\n`);
    response.write(`data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`);
  }
  response.end();
}

function json(response, value) {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
}

/** Anthropic Messages. */
const anthropic = {
  name: "Anthropic Messages",
  read({ tools = [], messages = [] }) {
    const blocks = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
    return {
      // What is deferred is known to the API, but shown to the model only when it searches for it.
      tools: tools
        .filter((tool) => tool.defer_loading !== true)
        .map(({ name, input_schema }) => ({ name, parameters: input_schema })),
      answers: blocks
        .filter(({ type }) => type === "tool_result")
        .map(({ tool_use_id, content }) => [stepOf(tool_use_id), textOf(content)]),
    };
  },
  write(response, { model, stream: isStream }, move) {
    const usage = { input_tokens: 1, output_tokens: 1 };
    const stop_reason = "text" in move ? "end_turn" : "tool_use";
    const block =
      "text" in move
        ? { type: "text", text: move.text }
        : { type: "tool_use", id: toId("toolu_", move.step), name: move.tool.name, input: move.input };
    const message = { id: toId("msg_", "x"), type: "message", role: "assistant", model, stop_sequence: null, usage };
    if (isStream !== true) return json(response, { ...message, content: [block], stop_reason });
    const empty = "text" in move ? { ...block, text: "" } : { ...block, input: {} };
    const delta =
      "text" in move
        ? { type: "text_delta", text: move.text }
        : { type: "input_json_delta", partial_json: JSON.stringify(move.input) };
    return stream(
      response,
      [
        { type: "message_start", message: { ...message, content: [], stop_reason: null } },
        { type: "content_block_start", index: 0, content_block: empty },
        { type: "content_block_delta", index: 0, delta },
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage },
        { type: "message_stop" },
      ].map((event) => [event.type, event]),
    );
  },
};

/** OpenAI Responses. */
const responses = {
  name: "OpenAI Responses",
  read({ tools = [], input = [] }) {
    const items = Array.isArray(input) ? input : [];
    // Codex gives models that call tools from code theirs in the conversation.
    const added = items.flatMap((item) => (item.type === "additional_tools" ? item.tools : []));
    return {
      tools: [...tools, ...added].flatMap((tool) => {
        if (tool.type === "namespace") return tool.tools.map((inner) => ({ ...inner, namespace: tool.name }));
        const name = tool.name ?? tool.type;
        return typeof name === "string" ? [{ ...tool, name }] : [];
      }),
      answers: items
        .filter(({ type }) => type === "function_call_output")
        .map(({ call_id, output }) => [stepOf(call_id), textOf(output)]),
    };
  },
  write(response, { model, stream: isStream }, move) {
    const item =
      "text" in move
        ? {
            type: "message",
            id: toId("msg_", "x"),
            role: "assistant",
            status: "completed",
            content: [{ type: "output_text", text: move.text, annotations: [] }],
          }
        : {
            type: "function_call",
            id: toId("fc_", "x"),
            call_id: toId("call_", move.step),
            name: move.tool.name,
            ...(move.tool.namespace === undefined ? {} : { namespace: move.tool.namespace }),
            arguments: JSON.stringify(move.input),
            status: "completed",
          };
    const usage = {
      input_tokens: 1,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 1,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 2,
    };
    const whole = { id: toId("resp_", "x"), object: "response", created_at: 1, model, status: "completed" };
    if (isStream !== true) return json(response, { ...whole, output: [item], usage });
    const place = { output_index: 0, item_id: item.id };
    const parts =
      "text" in move
        ? [
            { type: "response.content_part.added", ...place, content_index: 0, part: { ...item.content[0], text: "" } },
            { type: "response.output_text.delta", ...place, content_index: 0, delta: move.text },
            { type: "response.output_text.done", ...place, content_index: 0, text: move.text },
            { type: "response.content_part.done", ...place, content_index: 0, part: item.content[0] },
          ]
        : [
            { type: "response.function_call_arguments.delta", ...place, delta: item.arguments },
            { type: "response.function_call_arguments.done", ...place, arguments: item.arguments },
          ];
    const begun = "text" in move ? { ...item, content: [] } : { ...item, arguments: "" };
    const events = [
      { type: "response.created", response: { ...whole, status: "in_progress", output: [] } },
      { type: "response.output_item.added", output_index: 0, item: { ...begun, status: "in_progress" } },
      ...parts,
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response: { ...whole, output: [item], usage } },
    ];
    return stream(
      response,
      events.map((event, sequence_number) => [event.type, { ...event, sequence_number }]),
    );
  },
};

/** OpenAI Chat Completions. */
const chat = {
  name: "OpenAI Chat Completions",
  read({ tools = [], messages = [] }) {
    return {
      tools: tools.flatMap(({ function: described }) => (described === undefined ? [] : [described])),
      answers: messages
        .filter(({ role }) => role === "tool")
        .map(({ tool_call_id, content }) => [stepOf(tool_call_id), textOf(content)]),
    };
  },
  write(response, { model, stream: isStream }, move) {
    const message =
      "text" in move
        ? { role: "assistant", content: move.text }
        : {
            role: "assistant",
            content: null,
            tool_calls: [
              {
                index: 0,
                id: toId("call_", move.step),
                type: "function",
                function: { name: move.tool.name, arguments: JSON.stringify(move.input) },
              },
            ],
          };
    const finish_reason = "text" in move ? "stop" : "tool_calls";
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const whole = { id: toId("chatcmpl_", "x"), created: 1, model };
    if (isStream !== true)
      return json(response, {
        ...whole,
        object: "chat.completion",
        choices: [{ index: 0, message, finish_reason }],
        usage,
      });
    const chunk = { ...whole, object: "chat.completion.chunk" };
    return stream(response, [
      [undefined, { ...chunk, choices: [{ index: 0, delta: message, finish_reason: null }] }],
      [undefined, { ...chunk, choices: [{ index: 0, delta: {}, finish_reason }], usage }],
      [undefined, "[DONE]"],
    ]);
  },
};

/** Gemini generateContent: a result has no id, and comes in the order of the calls. */
const gemini = (isStream) => ({
  name: "Gemini generateContent",
  read({ tools = [], contents = [] }) {
    return {
      tools: tools.flatMap(({ functionDeclarations = [] }) =>
        functionDeclarations.map(({ name, parameters, parametersJsonSchema }) => ({
          name,
          parameters: parametersJsonSchema ?? parameters,
        })),
      ),
      answers: contents
        .flatMap(({ parts = [] }) => parts)
        .filter(({ functionResponse }) => functionResponse !== undefined)
        .map(({ functionResponse: { response } }) => [
          undefined,
          textOf(response.output ?? response.error ?? response),
        ]),
    };
  },
  write(response, _asked, move) {
    const part = "text" in move ? { text: move.text } : { functionCall: { name: move.tool.name, args: move.input } };
    const answer = {
      candidates: [{ index: 0, content: { role: "model", parts: [part] }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    };
    if (isStream) stream(response, [[undefined, answer]]);
    else json(response, answer);
  },
});
