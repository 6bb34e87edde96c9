import fc from "fast-check";
import { expect, test } from "vitest";
import { createSlotTable } from "./slot-table.ts";

test("behaves like a Map, whatever is put in and taken out, and never gives a number twice", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.constant("put"), fc.nat(400)), { maxLength: 400 }), (steps) => {
      const table = createSlotTable<{ id: number }>();
      const model = new Map<number, { id: number }>();
      const given = new Set<number>();
      for (const step of steps) {
        if (step === "put") {
          const entry = { id: table.nextId() };
          expect(given.has(entry.id)).toBe(false);
          given.add(entry.id);
          table.put(entry);
          model.set(entry.id, entry);
        } else {
          const id = Number(step);
          expect(table.take(id)).toBe(model.get(id));
          model.delete(id);
        }
        expect(table.size).toBe(model.size);
      }
      expect(new Set(table.values())).toEqual(new Set(model.values()));
      for (const id of given) expect(table.get(id)).toBe(model.get(id));
    }),
  );
});
