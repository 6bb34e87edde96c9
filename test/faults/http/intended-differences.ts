/** Requests that our front means to answer otherwise than the SDK's, with one reason. */
export interface IntendedDifference {
  readonly reason: string;
  /**
   * Name in the corpus, our verdict, the SDK's. A verdict is status, id, and error code or result; one that ends with
   * … is its beginning.
   */
  readonly requests: readonly (readonly [name: string, ours: string, sdk: string])[];
}

export const intendedDifferences: readonly IntendedDifference[] = [
  {
    reason: "A cursor that was not given out is invalid params (fault 59); the SDK ignores it, or fails.",
    requests: [
      ["modern: tools/list with an invented cursor", "200 1 error -32602", '200 1 {"…'],
      ["modern: tools/list with a cursor that is a number", "200 1 error -32602", "200 1 error -32603"],
      ["stateless: tools/list with an invented cursor", "200 1 error -32602", '200 1 {"…'],
      ["stateless: tools/list with a cursor that is a number", "200 1 error -32602", "200 1 error -32603"],
      ["session: tools/list with an invented cursor", "200 1 error -32602", '200 1 {"…'],
      ["session: tools/list with a cursor that is a number", "200 1 error -32602", "200 1 error -32603"],
    ],
  },
  {
    reason: "Params of the wrong shape are -32602 (fault 8); the SDK calls them an internal error.",
    requests: [
      ["modern: a read without a uri", "200 1 error -32602", "200 1 error -32603"],
      ["stateless: a read without a uri", "200 1 error -32602", "200 1 error -32603"],
      ["session: a call with arguments that are a list", "200 1 error -32602", "200 1 error -32603"],
      ["session: a call without a name", "200 1 error -32602", "200 1 error -32603"],
      ["session: a call with a name that is a number", "200 1 error -32602", "200 1 error -32603"],
      ["session: a read of what is no URI", "200 1 error -32602", "200 1 error -32603"],
      ["session: a read without a uri", "200 1 error -32602", "200 1 error -32603"],
    ],
  },
  {
    reason: "Batches exist only in 2025-03-26 (fault 4); the SDK takes them, or has a code of its own.",
    requests: [
      ["modern: a batch", "400 null error -32600", "400 null error -32000"],
      ["stateless: a batch", "400 null error -32600", "200 1 {}"],
      ["session: an empty batch", "400 null error -32600", "202"],
      ["session: a batch", "400 null error -32600", "200 1 {}"],
    ],
  },
  {
    reason: "An id that is none is an invalid request (fault 5); the SDK echoes it, or calls it a parse error.",
    requests: [
      ["modern: an id that is a fraction", "400 null error -32600", "400 1.5 error -32600"],
      ["stateless: an id that is a fraction", "400 null error -32600", "400 1.5 error -32600"],
      ["session: the id null", "400 null error -32600", "400 null error -32700"],
      ["session: an id that is a fraction", "400 null error -32600", "400 null error -32700"],
      ["session: an id that is an object", "400 null error -32600", "400 null error -32700"],
    ],
  },
  {
    reason: "A method that is no name is an invalid request (fault 7), answered with the id that could be read.",
    requests: [
      ["modern: a method that is a number", "400 1 error -32600", "400 null error -32600"],
      ["modern: an empty method", "400 1 error -32600", "400 1 error -32602"],
      ["stateless: a method that is a number", "400 1 error -32600", "400 null error -32600"],
      ["stateless: an empty method", "400 1 error -32600", "200 1 error -32601"],
      ["session: a method that is a number", "400 1 error -32600", "400 null error -32700"],
      ["session: an empty method", "400 1 error -32600", "200 1 error -32601"],
    ],
  },
  {
    reason: "Params that are no object are invalid params (fault 8); the SDK calls the whole message invalid.",
    requests: [
      ["modern: params that are a list", "400 1 error -32602", "400 1 error -32600"],
      ["modern: params that are a string", "400 1 error -32602", "400 1 error -32600"],
      ["stateless: params that are a list", "400 1 error -32602", "400 1 error -32600"],
      ["stateless: params that are a string", "400 1 error -32602", "400 1 error -32600"],
      ["session: params that are a list", "400 1 error -32602", "400 null error -32700"],
      ["session: params that are a string", "400 1 error -32602", "400 null error -32700"],
    ],
  },
  {
    reason: "An empty list is how some languages write an object without members; the SDK calls the message invalid.",
    requests: [
      ["modern: params that are an empty list", "400 1 error -32602", "400 1 error -32600"],
      ["stateless: params that are an empty list", '200 1 {"…', "400 1 error -32600"],
      ["session: params that are an empty list", '200 1 {"…', "400 null error -32700"],
    ],
  },
  {
    reason: "A byte-order mark is not JSON (RFC 8259, 8.1; fault 17); the SDK strips it.",
    requests: [
      ["modern: a byte-order mark", "400 null error -32700", "400 1 error -32602"],
      ["stateless: a byte-order mark", "400 null error -32700", "200 1 {}"],
      ["session: a byte-order mark", "400 null error -32700", "200 1 {}"],
    ],
  },
  {
    reason: "Nesting is limited at the door (fault 14); the SDK takes any depth.",
    requests: [
      ["modern: 65 levels", "400 null error -31102", "400 1 error -32602"],
      ["stateless: 65 levels", "400 null error -31102", "200 1 {}"],
      ["session: 65 levels", "400 null error -31102", "200 1 {}"],
    ],
  },
  {
    reason:
      "The status is the same; the code is a row of our table, which lies outside the range that JSON-RPC reserves, where the SDK uses -32000.",
    requests: [
      ["modern: Content-Type: text/plain", "415 null error -31104", "415 null error -32000"],
      ["modern: a response", "400 null error -32600", "400 null error -32000"],
      ["modern: GET", "405 null error -31105", "405 null error -32000"],
      ["modern: DELETE", "405 null error -31105", "405 null error -32000"],
      ["modern: PUT", "405 null error -31105", "405 null error -32000"],
      ["modern: PATCH", "405 null error -31105", "405 null error -32000"],
      ["stateless: Content-Type: text/plain", "415 null error -31104", "415 null error -32000"],
      ["stateless: PUT", "405 null error -31105", "405 null error -32000"],
      ["stateless: PATCH", "405 null error -31105", "405 null error -32000"],
      ["stateless: GET", "405 null error -31105", "405 null error -32000"],
      ["stateless: DELETE", "405 null error -31105", "405 null error -32000"],
      ["session: Content-Type: text/plain", "415 null error -31104", "415 null error -32000"],
      ["session: PUT", "405 null error -31105", "405 null error -32000"],
      ["session: PATCH", "405 null error -31105", "405 null error -32000"],
    ],
  },
  {
    reason: "An unknown version is -32022 in every era (fault 11); the SDK has a code of its own for legacy ones.",
    requests: [
      ["stateless: version header 1999-01-01", "400 1 error -32022", "400 null error -32000"],
      ["session: version header 1999-01-01", "400 1 error -32022", "400 null error -32000"],
    ],
  },
  {
    reason: "Accept is read liberally, so that a client that takes one form gets that form; the SDK insists on both.",
    requests: [
      ["stateless: Accept: application/json", "200 1 {}", "406 null error -32000"],
      ["stateless: Accept: text/event-stream", "200 1 {}", "406 null error -32000"],
      ["session: Accept: application/json", "200 1 {}", "406 null error -32000"],
      ["session: Accept: text/event-stream", "200 1 {}", "406 null error -32000"],
    ],
  },
  {
    reason:
      "The server behind our front is SDK 2's, which answers an unknown tool with an error; SDK 1's answers with a result.",
    requests: [
      ["session: a call of an unknown tool", "200 1 error -32602", '200 1 {"isError":true}'],
      ["session: a call of __proto__", "200 1 error -32602", '200 1 {"isError":true}'],
    ],
  },
  {
    reason: "JSON that is no request is an invalid request (fault 3); SDK 1 calls it a parse error, without the id.",
    requests: [
      ["session: a number", "400 null error -32600", "400 null error -32700"],
      ["session: null", "400 null error -32600", "400 null error -32700"],
      ["session: a string", "400 null error -32600", "400 null error -32700"],
      ["session: an empty object", "400 null error -32600", "400 null error -32700"],
      ["session: no jsonrpc", "400 1 error -32600", "400 null error -32700"],
      ["session: another jsonrpc", "400 1 error -32600", "400 null error -32700"],
    ],
  },
  {
    reason: "What initialize lacks has a sensible default: our newest legacy revision, no capabilities.",
    requests: [["session: initialize without params", '200 1 {"…', "400 null error -32000"]],
  },
  {
    reason: "A client that lost track may begin again: it gets a new session, and the old one expires.",
    requests: [["session: initialize again in the session", '200 1 {"…', "400 null error -32600"]],
  },
  {
    reason:
      "Requests without a session are answered statelessly (a bare curl works); SDK 1's transport with sessions has none of that.",
    requests: [["session: a request without the session", '200 1 {"…', "400 null error -32000"]],
  },
  {
    reason: "The status, on which clients act, is the same; the code is a row of our table.",
    requests: [
      ["session: an unknown session", "404 null error -31116", "404 null error -32001"],
      ["session: GET that takes no stream", "406 null error -31107", "406 null error -32000"],
      ["session: GET of an unknown session", "404 null error -31116", "404 null error -32001"],
      ["session: DELETE of an unknown session", "404 null error -31116", "404 null error -32001"],
    ],
  },
  {
    reason: "204 says that there is nothing to read; the SDK says 200 with an empty body.",
    requests: [["session: DELETE", "204", "200"]],
  },
];
