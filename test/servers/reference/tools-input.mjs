// Tools of the modern era that return input_required until the repeated request carries the answers (SEP-2322).
// In the legacy era the SDK turns the same questions into pushed requests.

import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  fromJsonSchema,
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
} from "@modelcontextprotocol/server";
import { result, text } from "./samples.mjs";

const askName = (message = "What is your name?") => askFor(message, "name", "string");
const askConfirmation = () => askFor("Please confirm", "ok", "boolean");
const askGreeting = () => askModel("Generate a greeting");
const nameFrom = (responses, key) => acceptedContent(responses, key)?.name;

/**
 * @param {import("@modelcontextprotocol/server").McpServer} server
 * @param {import("@modelcontextprotocol/server").RequestStateCodec} stateCodec
 */
export function addInputTools(server, stateCodec) {
  const add = (name, description, run) =>
    server.registerTool(
      `test_input_required_result_${name}`,
      { description, inputSchema: fromJsonSchema({ type: "object" }) },
      async (_args, { mcpReq }) => run(mcpReq),
    );
  addSingleQuestions(add);
  add("capabilities", "Asks only what the client declared that it can answer", answerWhatClientCan);
  add("multiple_inputs", "Asks the user, the model and for roots in one round", (mcpReq) =>
    askThree(mcpReq, stateCodec),
  );
  add("request_state", "Needs its sealed state back", (mcpReq) =>
    confirm(mcpReq, stateCodec, "state-ok: state verified"),
  );
  add("tampered_state", "Refuses altered state", (mcpReq) =>
    confirm(mcpReq, stateCodec, "integrity-ok: state verified"),
  );
  add("multi_round", "Asks twice, with state that changes", (mcpReq) => askTwice(mcpReq, stateCodec));
}

function addSingleQuestions(add) {
  add("elicitation", "Asks the user for a name", ({ inputResponses }) => {
    const name = nameFrom(inputResponses, "user_name");
    if (typeof name !== "string") return inputRequired({ inputRequests: { user_name: askName() } });
    return result(text(`Hello, ${name}!`));
  });
  add("sampling", "Asks the client's model a question", ({ inputResponses }) => {
    const answer = inputResponses?.capital_question;
    const inputRequests = { capital_question: askModel("What is the capital of France?") };
    return answer === undefined ? inputRequired({ inputRequests }) : result(text(`Model: ${answer.content?.text}`));
  });
  add("list_roots", "Asks for the client's roots", ({ inputResponses }) => {
    const roots = inputResponses?.client_roots?.roots;
    if (!Array.isArray(roots)) return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
    return result(text(`${roots.length} root(s): ${roots.map(({ uri }) => uri).join(", ")}`));
  });
}

function answerWhatClientCan({ inputResponses, envelope }) {
  if (inputResponses !== undefined) return result(text("All that was asked has been answered"));
  const declared = envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? {};
  const inputRequests = {
    ...(declared.elicitation && { user_name: askName() }),
    ...(declared.sampling && { greeting: askGreeting() }),
    ...(declared.roots && { client_roots: inputRequired.listRoots() }),
  };
  if (Object.keys(inputRequests).length === 0) return result(text("The client can answer nothing"));
  return inputRequired({ inputRequests });
}

async function askThree({ inputResponses }, stateCodec) {
  const name = nameFrom(inputResponses, "user_name");
  const greeting = inputResponses?.greeting?.content?.text;
  const roots = inputResponses?.client_roots?.roots;
  if (typeof name === "string" && typeof greeting === "string" && Array.isArray(roots)) {
    return result(text(`${greeting} ${name}: ${roots.length} root(s)`));
  }
  return inputRequired({
    inputRequests: {
      user_name: askName(),
      greeting: askGreeting(),
      client_roots: inputRequired.listRoots(),
    },
    requestState: await stateCodec.mint({ tool: "multiple_inputs" }),
  });
}

async function confirm({ inputResponses, requestState }, stateCodec, done) {
  if (acceptedContent(inputResponses, "confirm") === undefined) {
    const state = await stateCodec.mint({ tool: "confirm", nonce: crypto.randomUUID() });
    return inputRequired({ inputRequests: { confirm: askConfirmation() }, requestState: state });
  }
  // Altered state never gets here (the server's `verify` refuses it); a confirmation without any state does.
  if (requestState() === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, "requestState is missing");
  return result(text(done));
}

async function askTwice({ inputResponses, requestState }, stateCodec) {
  const state = requestState();
  if (state?.round === 2) {
    const answered = acceptedContent(inputResponses, "step2")?.color;
    const colour = typeof answered === "string" ? answered : "no colour";
    return result(text(`${String(state.name)} likes ${colour}`));
  }
  if (state?.round === 1) {
    const name = nameFrom(inputResponses, "step1") ?? "somebody";
    const step2 = askFor("Step 2: What is your favourite colour?", "color", "string");
    return inputRequired({
      inputRequests: { step2 },
      requestState: await stateCodec.mint({ round: 2, name }),
    });
  }
  const step1 = askName("Step 1: What is your name?");
  return inputRequired({
    inputRequests: { step1 },
    requestState: await stateCodec.mint({ round: 1 }),
  });
}

function askModel(question) {
  const messages = [{ role: "user", content: text(question) }];
  return inputRequired.createMessage({ messages, maxTokens: 100 });
}

export function askFor(message, field, type) {
  const requestedSchema = { type: "object", properties: { [field]: { type } }, required: [field] };
  return inputRequired.elicit({ message, requestedSchema });
}
