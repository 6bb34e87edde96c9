import { expect, test } from "vitest";
import { ResultBytes } from "../../wire/mcp/result-bytes.ts";
import { joinText, toResultText } from "./result-text.ts";

const padding = "x".repeat(40_000);

test.each(["null", "[1]", "{}", '{"a":1}', '{"io.modelcontextprotocol/serverInfo":1}'])(
  "a result whose _meta is %s has one _meta, with our serverInfo",
  (meta) => {
    for (const pad of ["", padding]) {
      const bytes = Buffer.from(`{"pad":"${pad}","_meta": ${meta} ,"z":1}`);
      const parsed = JSON.parse(bytes.toString()) as { [key: string]: unknown };
      for (const known of [parsed, undefined]) {
        const text = joinText(toResultText(new ResultBytes(bytes, known), "modern", '{"name":"us"}'));
        expect(text.match(/"_meta"/g)).toHaveLength(1);
        const own = meta.startsWith("{") ? (JSON.parse(meta) as object) : {};
        expect(JSON.parse(text)).toEqual({
          resultType: "complete",
          pad,
          z: 1,
          _meta: { ...own, "io.modelcontextprotocol/serverInfo": { name: "us" } },
        });
      }
    }
  },
);
