import * as v from "valibot";
import { expect, expectTypeOf, test } from "vitest";
import { placedRows, resolveRows, schemaOf } from "./row-reading.ts";
import { boolean, choice, group, keyed, needed, number, optionalGroup, text, type Resolved } from "./setting-row.ts";

const rows = {
  colour: choice({ choices: ["red", "blue"], fallback: "red", about: "a colour" }),
  width: number({ fallback: 5, compute: ({ cores }) => cores * 5, min: 1, max: 90, about: "a width" }),
  label: text({ fallback: undefined, about: "a label", example: "a" }),
  door: group("the door", { isOpen: boolean({ fallback: true, about: "whether it is open" }) }),
  window: optionalGroup("a window", {
    size: needed(number({ fallback: undefined, min: 1, max: 9, about: "its size" })),
  }),
  rooms: keyed({ about: "rooms", key: "ROOM" }, { size: number({ fallback: 1, min: 1, max: 9, about: "its size" }) }),
};
const facts = { cores: 2, isShared: false };

test("types, checks and defaults of settings come from their rows alone", () => {
  expectTypeOf<Resolved<typeof rows>>().toEqualTypeOf<{
    readonly colour: "red" | "blue";
    readonly width: number;
    readonly label: string | undefined;
    readonly door: { readonly isOpen: boolean };
    readonly window: { readonly size: number } | undefined;
    readonly rooms: Readonly<Record<string, { readonly size?: number | undefined }>>;
  }>();
  const plain = { colour: "red", width: 10, label: undefined, door: { isOpen: true }, window: undefined, rooms: {} };
  expect(resolveRows(rows, [], facts)).toEqual(plain);
  const schema = schemaOf(rows);
  for (const wrong of [
    { colour: "green" },
    { width: 91 },
    { door: { isOpen: 1 } },
    { window: {} },
    { rooms: { a: 1 } },
  ])
    expect(v.safeParse(schema, wrong).success, JSON.stringify(wrong)).toBe(false);
  expect(v.parse(schema, { colour: "blue", window: { size: 2 } })).toEqual({ colour: "blue", window: { size: 2 } });
});

test("each setting is the first layer's that has it, also inside of groups; objects by name come whole", () => {
  const first = { width: 7, rooms: { a: { size: 2 } } };
  const second = { width: 8, colour: "blue" as const, door: { isOpen: false }, window: { size: 3 }, rooms: { b: {} } };
  expect(resolveRows(rows, [first, undefined, second], facts)).toEqual({
    colour: "blue",
    width: 7,
    label: undefined,
    door: { isOpen: false },
    window: { size: 3 },
    rooms: { a: { size: 2 } },
  });
});

test("rows are found with the place where they stand", () => {
  expect(placedRows(rows).map(({ path }) => path.join("."))).toEqual([
    "colour",
    "width",
    "label",
    "door.isOpen",
    "window.size",
  ]);
});
