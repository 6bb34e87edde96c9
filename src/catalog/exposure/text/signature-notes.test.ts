import { expect, test } from "vitest";
import { requiredNotes } from "./signature.ts";

const properties = {
  since: {
    type: "string",
    description: "The start of the range, as an ISO 8601 date (e.g. 2024-05-01). May be in the future.",
  },
  owner: { type: "string", description: "Owner of the repository" },
  id: { type: "string", description: "The cluster's UUID." },
  state: { enum: ["open"], description: "Must be open" },
  wait: { type: "number", description: "Seconds to wait" },
};

test("explains formats, units and identifiers of required parameters", () => {
  expect(requiredNotes({ properties, required: ["since", "owner", "id", "state"] }, 60)).toBe(
    "since: start of the range, as an ISO 8601 date (e.g. 2024-05-01); id: cluster's UUID",
  );
});

test("leaves out what exceeds its tokens, and says nothing when there is nothing to say", () => {
  expect(requiredNotes({ properties, required: ["since", "id"] }, 10)).toBe("id: cluster's UUID");
  expect(requiredNotes({ properties, required: ["owner"] }, 60)).toBeUndefined();
  expect(requiredNotes({ properties }, 60)).toBeUndefined();
});

test("takes schemas of any form", () => {
  expect(requiredNotes({ properties: 1, required: 2 }, 60)).toBeUndefined();
  expect(requiredNotes({ properties: { a: null }, required: ["a", "constructor", 7] }, 60)).toBeUndefined();
});
