/** Makes so many bytes, or a little more, of one shape. */
export type MakeShape = (bytes: number) => string;

const of =
  (piece: string, open = "", close = ""): MakeShape =>
  (bytes) =>
    open + piece.repeat(Math.ceil(bytes / Buffer.byteLength(piece))) + close;

/** Pieces that are numbered, so that all of them differ. */
const numbered =
  (piece: (at: number) => string, open: string, close: string): MakeShape =>
  (bytes) => {
    const parts: string[] = [];
    for (let length = 0, at = 0; length < bytes; at += 1) length += (parts[parts.push(piece(at)) - 1]?.length ?? 0) + 1;
    return `${open}${parts.join(",")}${close}`;
  };

/** Texts, wherever a peer may write one. */
export const textShapes = {
  words: of("the quick brown fox jumps over "),
  capitals: of("ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
  base64: of("QUJDabc123+/xyz0"),
  digits: of("1234567890"),
  onePoint: of("0", "0.", "1"),
  han: of("漢字的文字"),
  emoji: of("👩‍💻"),
  rightToLeft: of("שלום مرحبا \u202E"),
  combining: of("e\u0301\u0302\u0303"),
  hidden: of("a\u200B\u200D\uFE0F"),
  controls: of("\u0000\u0007\u001B"),
  escapes: of("\u001B[31m\u001B]0;x"),
  halfPairs: of("\uD83D\uDE00\uD83D"),
  breaks: of("\r\n\n\u2028"),
  spaces: of(" "),
  quotes: of('"\\"\''),
  backslashes: of("\\"),
  brackets: of("[{(<"),
  jsonInJson: of('{\\"a\\":[\\"'),
  bearer: of("bearer+"),
  basic: of("basic+YWFh"),
  colons: of(" : : :"),
  privateKey: of("A", "-----BEGIN PRIVATE KEY-----"),
  keys: of(".sk-a1aaaaaaaaaaaaaaaaaaaa"),
  named: of("token="),
  users: of("://a:b@"),
  markup: of("<a href='x'><b>"),
  markdown: of("![x](y)**`"),
  variables: of("${A:-"),
  templates: of("{{x}}{x*}"),
  addresses: of("https://example.com/a?b=c "),
  dots: of("a.b_c-"),
} as const satisfies Record<string, MakeShape>;

/** JSON values, wherever a peer may write any. */
export const jsonShapes = {
  members: numbered((at) => `"k${at}":1`, "{", "}"),
  sameMember: of('"a":1,', "{", '"z":1}'),
  emptyObjects: of("{},", "[", "1]"),
  differentObjects: numbered((at) => `{"k${at}":1}`, "[", "]"),
  lists: of("[[[[1]]]],", "[", "1]"),
  numbers: of("1,", "[", "1]"),
  longNumber: of("7"),
  fractions: of("0.1234567890123456789,", "[", "1]"),
  texts: numbered((at) => `"s${at}"`, "[", "]"),
  escaped: of("\\u0041", '"', '"'),
  oneText: of("A", '"', '"'),
  hanText: of("漢", '"', '"'),
  deep: (bytes) => "[".repeat(bytes / 2) + "]".repeat(bytes / 2),
  nestedTwice: (bytes) => {
    let text = `"${"x".repeat(bytes)}"`;
    for (let level = 0; level < 50; level += 1) text = `{"a":0,"a":${text}}`;
    return text;
  },
  spaces: of(" ", "[", "1]"),
  unended: of('{"a":', ""),
} as const satisfies Record<string, MakeShape>;

/** Configuration files. */
export const fileShapes = {
  ...jsonShapes,
  comments: of("/*"),
  lineComments: of("//\n"),
  commas: of(",", '{"mcpServers":{'),
  lines: of("x\n", "{"),
  servers: numbered((at) => `"s${at}":{"command":"x","enabled":false}`, '{"mcpServers":{', "}}"),
  wrongServers: numbered((at) => `"s${at}":{"comand":"x","bogus":1,"args":3}`, '{"mcpServers":{', "}}"),
  lookAlikes: numbered((at) => `"аο${at}":{"command":"x"}`, '{"mcpServers":{', "}}"),
  sameServer: of('"a":{},', '{"mcpServers":{', '"b":{}}}'),
  settings: numbered((at) => `"portt${at}":1`, '{"toolyard":{', "}}"),
  people: numbered(
    (at) => `"p${at}":{"tokenHash":"sha256:${at.toString(16).padStart(64, "0")}","team":"t${at % 50}"}`,
    '{"toolyard":{"principals":{',
    "}}}",
  ),
  patterns: numbered(
    (at) => `"*a*b*${at}*"`,
    '{"mcpServers":{"p":{"command":"x","enabled":false,"tools":{"deny":[',
    "]}}}}",
  ),
  variables: of("${A:-", '{"mcpServers":{"v":{"command":"x","enabled":false,"args":["', '"]}}}'),
  arguments: numbered((at) => `"${at}"`, '{"mcpServers":{"v":{"command":"x","enabled":false,"args":[', "]}}}"),
} as const satisfies Record<string, MakeShape>;
