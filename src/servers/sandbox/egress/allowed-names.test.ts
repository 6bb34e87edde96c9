import { describe, expect, test } from "vitest";
import { createAllowedNames } from "./allowed-names.ts";
import { createAddresses } from "./egress.ts";
import { hostIn, mostFirstBytes } from "./first-bytes.ts";
import { readQuestion, writeAnswer } from "./name-questions.ts";

describe("names that may be reached", () => {
  const names = createAllowedNames(["api.example.com", "*.cdn.example.com", "db.internal:5432", "*:8443"]);

  test.each([
    ["api.example.com", 443, "public"],
    ["api.example.com", 80, "public"],
    ["api.example.com", 22, undefined],
    ["xapi.example.com", 443, undefined],
    ["api.example.com.evil.test", 443, undefined],
    ["a.b.cdn.example.com", 443, "public"],
    ["cdn.example.com", 443, undefined],
    ["db.internal", 5432, "private"],
    ["db.internal", 443, undefined],
    ["any.test", 8443, "public"],
  ])("%s:%d is %s", (name, port, reach) => expect(names.reach(name, port)).toBe(reach));

  test("ports are those that any name may have", () =>
    expect(new Set(names.ports)).toEqual(new Set([80, 443, 5432, 8443])));
});

function question(name: string, type = 1): Buffer {
  const labels = name.split(".").map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  const head = Buffer.from([0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
  return Buffer.concat([head, ...labels, Buffer.from([0, 0, type, 0, 1])]);
}

describe("questions for names", () => {
  test("are read in small letters, and answered with the address, no record, or no such name", () => {
    const asked = readQuestion(question("API.Example.com"));
    expect(asked?.name).toBe("api.example.com");
    const answer = writeAnswer(asked!, "127.0.1.7");
    expect([...answer.subarray(-4)]).toEqual([127, 0, 1, 7]);
    expect(answer.readUInt16BE(0)).toBe(0x1234);
    expect(answer.readUInt16BE(6)).toBe(1);
    expect(writeAnswer(readQuestion(question("a.test", 28))!, "127.0.1.7").readUInt16BE(6)).toBe(0);
    expect(writeAnswer(asked!, undefined).readUInt16BE(2) & 15).toBe(3);
  });

  test("that are none are not answered, whatever they are", () => {
    const whole = question("a.example.com");
    for (let length = 0; length < whole.length; length += 1)
      expect(readQuestion(whole.subarray(0, length))).toBeUndefined();
    const pointing = Buffer.concat([whole.subarray(0, 12), Buffer.from([0xc0, 12, 0, 1, 0, 1])]);
    expect(readQuestion(pointing)).toBeUndefined();
    expect(readQuestion(Buffer.alloc(5_000, 1))).toBeUndefined();
    for (let round = 0; round < 2_000; round += 1)
      readQuestion(Buffer.from(Array.from({ length: round % 600 }, () => Math.floor(Math.random() * 256))));
  });
});

describe("the host that a connection says it is for", () => {
  test("HTTP: one Host header, without its port", () => {
    expect(hostIn(Buffer.from("GET / HTTP/1.1\r\nHost: API.example.com:80\r\n\r\n"))).toEqual({
      kind: "host",
      name: "api.example.com",
    });
    expect(hostIn(Buffer.from("GET / HTTP/1.1\r\nHo")).kind).toBe("more");
    expect(hostIn(Buffer.from("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n")).kind).toBe("none");
    expect(hostIn(Buffer.from("GET / HTTP/1.1\r\n\r\n")).kind).toBe("none");
  });

  test("anything else is none, and more than is looked at too", () => {
    expect(hostIn(Buffer.from("SSH-2.0-x\r\n")).kind).toBe("none");
    expect(hostIn(Buffer.from([22, 3, 1, 0, 4, 2, 0, 0, 0])).kind).toBe("none");
    expect(hostIn(Buffer.alloc(mostFirstBytes, "A")).kind).toBe("none");
    for (let round = 0; round < 2_000; round += 1)
      hostIn(Buffer.from([22, 3, 1, ...Array.from({ length: round % 300 }, () => Math.floor(Math.random() * 256))]));
  });
});

test("addresses are given to names, and beyond the limit taken from the one that was used longest ago", () => {
  const addresses = createAddresses(2);
  const [one, two] = [addresses.of("one"), addresses.of("two")];
  expect(addresses.of("one")).toBe(one);
  expect(addresses.of("three")).toBe(two);
  expect(addresses.nameOf(two)).toBe("three");
  expect(new Set(Array.from({ length: 600 }, (_, n) => createAddresses().of(String(n)))).size).toBe(1);
});
