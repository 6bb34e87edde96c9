// What a model read and wrote in a trial, in a form in which two runs are the same.

/** What is left of a long answer. */
const longestText = 1_500;

/**
 * @typedef {object} Transcript
 * @property {string} client
 * @property {string} started how
 * @property {string[]} ours our tools, as they are called there, in the first request
 * @property {number} others the other tools in it
 * @property {{ tool: string, input: object, answer: string }[]} calls
 */

/**
 * The finding and calling in a run as the client comes; where it calls nothing without a person, also the one in which
 * its user allowed that.
 * @returns {Transcript[]}
 */
export function toTranscripts({ client, byDefault, allowed }) {
  const runs = [{ started: "as it comes", run: byDefault }];
  if (client.allow !== undefined) runs.push({ started: `with \`${client.allow.args.join(" ")}\``, run: allowed });
  return runs.map(({ started, run: { seen, others } }) => ({
    started,
    ours: seen.first.filter((name) => /_mcp_(tools?|resources?)$/.test(name)),
    others,
    calls: seen.made
      .filter(({ step }) => step === "discover" || step === "execute")
      .map(({ step, tool, input }) => ({ tool, input, answer: shorten(seen.results.get(step) ?? "nothing") })),
  }));
}

/** Without what differs from run to run: the folder of a trial, and times. */
export function steadyText(text) {
  return text
    .replaceAll(/\/[^\s"'`]*toolyard-clients-[^/\s"'`]+/g, "~")
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, "http://gateway")
    .replaceAll(/"search_time_ms":[\d.]+/g, '"search_time_ms":100')
    .replaceAll(/Wall time: [\d.]+ seconds/g, "Wall time: 0.1 seconds");
}

/** Without what fills pages, and without the text direction and colours that a result may switch. */
export function shorten(text) {
  const plain = steadyText(text).replaceAll(/(?![\t\n])[\p{Cc}\p{Bidi_Control}]/gu, "");
  return plain.length > longestText ? `${plain.slice(0, longestText).toWellFormed()}…` : plain;
}
