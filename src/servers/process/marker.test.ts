import { describe, expect, test } from "vitest";
import { createGatewayMark, isOfGateway, readMarks, toMarkerValue, toTreeMark } from "./marker.ts";

const gateway = createGatewayMark();
const mark = toTreeMark(gateway, 12);

describe("marks", () => {
  test("are found wherever the variable stands, and only in the variable itself", () => {
    expect(readMarks(`TOOLYARD_INSTANCE=${mark}\0HOME=/\0`)).toEqual([mark]);
    expect(readMarks(`HOME=/\0TOOLYARD_INSTANCE=${mark}`)).toEqual([mark]);
    expect(readMarks(`MY_TOOLYARD_INSTANCE=${mark}\0X=TOOLYARD_INSTANCE=${mark}\0`)).toEqual([]);
    expect(readMarks("")).toEqual([]);
    expect(readMarks("TOOLYARD_INSTANCE=\0A=b\0")).toEqual([]);
    expect(readMarks("TOOLYARD_INSTANCE=nonsense/../1.2\0")).toEqual([]);
  });

  test("belong to exactly one gateway", () => {
    expect(isOfGateway(mark, gateway)).toBe(true);
    expect(isOfGateway(mark, createGatewayMark())).toBe(false);
    expect(readMarks(`TOOLYARD_INSTANCE=${gateway}.1\0`)).not.toContain(mark);
  });

  test("of outer gateways are kept, whatever else was in the variable is not", () => {
    const outer = toTreeMark(createGatewayMark(), 3);
    expect(toMarkerValue(mark, outer)).toBe(`${outer}/${mark}`);
    expect(toMarkerValue(mark, "junk")).toBe(mark);
    expect(readMarks(`TOOLYARD_INSTANCE=${toMarkerValue(mark, outer)}\0`)).toEqual([outer, mark]);
    const deep = Array.from({ length: 50 }, (_, n) => toTreeMark(gateway, n)).join("/");
    expect(toMarkerValue(mark, deep).split("/")).toHaveLength(9);
  });
});
