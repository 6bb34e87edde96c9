import { expect, test } from "vitest";
import { findForeignFlag } from "./locked-flags.ts";
import { parseTierFields } from "./tier-fields.ts";

const fields = parseTierFields(
  [
    { path: "args.region", flag: "--aws-region", locked: true },
    { path: "args.user", flag: "-u", tier: "template" },
    { path: "args.mode", flag: "mode" },
    { path: "args.own", flag: "--own" },
    { path: "args.folder", locked: true },
  ],
  "stdio",
);
const find = (...words: string[]) => findForeignFlag(fields, words, (path) => path === "args.own");

test.each([
  "--aws-region",
  "--aws-region=us",
  "--aws",
  "--aws-reg=us",
  "-aws-region",
  "--awsRegion",
  "--AWS_REGION",
  "--no-aws-region",
  "-a",
  "--aws-region:us",
  "--aws-region us",
  " --aws-region",
  "\t--aws-region\n",
  "--aws-region[]=us",
  "--aws-region+=us",
  "--aws.region",
  "--no-aws",
  "/aws-region",
  "/aws-region:us",
  "/AWS",
  "\u2014aws-region",
  `--aws-region=${"x".repeat(64 * 1024)}`,
])("%s is the flag --aws-region", (word) => {
  expect(find("--other", word, "us")).toBe("args.region");
});

test("a flag of one letter is found in one word with others or its value, one without a dash as it is", () => {
  expect([find("-u"), find("-uroot"), find("-vu"), find("--u")]).toEqual(Array(4).fill("args.user"));
  expect(["-xu=root", "-u:root", " -u", "/u"].map((word) => find(word))).toEqual(Array(4).fill("args.user"));
  expect(["mode", "mode=x", "Mode=x", "mode:x", " mode x"].map((word) => find(word))).toEqual(
    Array(5).fill("args.mode"),
  );
});

test("other words, and flags that are theirs, are nobody else's", () => {
  expect(
    find("--own", "--bucket=aws-region", "us", "--", "-", "modes", "a=mode", "--verbose", "/srv/aws", "https://aws"),
  ).toBeUndefined();
});
