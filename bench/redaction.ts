// What redaction costs for texts that hold no secret, and how long it takes to learn secrets.
// `npm run bench bench/redaction.ts`
import { randomBytes } from "node:crypto";
import { createRedaction } from "../src/records/redaction/redaction.ts";

const line =
  '{"level":"info","time":"2026-01-02T03:04:05.678Z","component":"instances","server":"github","instance":"github","durationMs":1234,"msg":"github: ready -> stopped, because nobody has used it for 300 s"}\n';
const picture = JSON.stringify({ content: [{ type: "image", data: randomBytes(12_000).toString("base64") }] });
const args = JSON.stringify({ owner: "octocat", repo: "hello", title: "It does not work", body: "x ".repeat(200) });

for (const count of [0, 50, 1_000]) {
  const secrets = new Set(Array.from({ length: count }, (_, index) => secretOf(index)));
  const redaction = createRedaction({ secrets: () => secrets });
  const learnedUs = timeUs(1, () => redaction.text(line));
  process.stdout.write(
    [
      `${count} secrets`,
      `learned in ${learnedUs.toFixed(0)} us`,
      `${line.length}-byte log line ${timeUs(200_000, () => redaction.text(line)).toFixed(2)} us`,
      `16 KB picture ${timeUs(2_000, () => redaction.text(picture)).toFixed(1)} us`,
      `${args.length}-byte arguments ${timeUs(50_000, () => redaction.json(args)).toFixed(2)} us`,
    ].join("; ") + "\n",
  );
}

/** Mixed lengths, some with the beginning that all tokens of an issuer share. */
function secretOf(index: number): string {
  const random = randomBytes(12 + (index % 30)).toString("base64url");
  return index % 3 === 0 ? `eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.${random}.${random}` : random;
}

/** CPU time, because other programs run beside this one. */
function timeUs(runs: number, run: () => unknown): number {
  if (runs > 1) for (let index = 0; index < runs / 10; index += 1) run();
  const before = process.cpuUsage();
  for (let index = 0; index < runs; index += 1) run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / runs;
}
