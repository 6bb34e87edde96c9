import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, test } from "vitest";
import { readPublicTools } from "../../../../test/servers/public-tools.ts";
import { estimateTokens } from "./token-estimate.ts";

const noise = Array.from({ length: 20 }, (_, at) => createHash("sha512").update(String(at)).digest("hex")).join("");

const answer = JSON.stringify({
  tools: Array.from({ length: 10 }, (_, at) => ({
    tool_path: `github:create_pull_request_review_${at}`,
    description:
      "Create a review on a pull request, with comments on single lines. Needs write access to the repository. …",
    server_name: "GitHub",
    transport: "stdio",
    relevance_score: 0.031 + at / 20,
    input:
      '{ owner: string; repo: string; pull_number: integer; event: "APPROVE" | "REQUEST_CHANGES" | "COMMENT"; comments?: object[] }',
  })),
  total_found: 10,
  search_time_ms: 2.4,
  query: "review a pull request",
});

/** Samples about as long as an answer, and how far the estimate may lie above the real count. */
const samples: readonly (readonly [name: string, text: string, most: number])[] = [
  ["an answer of ten results", answer, 1.1],
  ["code", readFileSync(new URL("./token-estimate.ts", import.meta.url), "utf8"), 1.15],
  ["hexadecimal", noise, 1.3],
  ["base64", Buffer.from(noise, "hex").toString("base64"), 1.15],
  [
    "Chinese",
    "本工具用于查询指定城市的天气预报，返回未来七天的温度、湿度和风力信息。请输入城市名称或行政区划代码。",
    1.4,
  ],
  ["Japanese", "このツールは指定された都市の天気予報を検索し、今後七日間の気温、湿度、風力を返します。", 1.35],
  ["Korean", "이 도구는 지정된 도시의 일기예보를 조회하여 향후 7일간의 기온, 습도 및 풍속 정보를 반환합니다.", 1.35],
  ["Russian", "Этот инструмент ищет прогноз погоды для указанного города и возвращает температуру и влажность.", 1.4],
  [
    "German",
    "Dieses Werkzeug durchsucht die Wettervorhersage für eine Stadt und liefert Temperatur und Luftfeuchtigkeit.",
    1.3,
  ],
  ["Arabic", "تبحث هذه الأداة عن توقعات الطقس لمدينة محددة وتعيد درجة الحرارة والرطوبة وسرعة الرياح.", 1.4],
  ["Hindi", "यह उपकरण निर्दिष्ट शहर के मौसम का पूर्वानुमान खोजता है और अगले सात दिनों के लिए तापमान लौटाता है।", 1.4],
  ["emoji", "🚀🎉👩‍💻🇩🇪✅❌⚠️🔥👍🏽🧑‍🚀📦🔧🐛✨", 1.4],
];

describe("estimateTokens", () => {
  test.each(samples)("is near the count of a tokenizer, rather above it: %s", (_, text, most) => {
    const ratio = estimateTokens(text) / countTokens(text);
    expect(ratio).toBeGreaterThan(0.93);
    expect(ratio).toBeLessThan(most);
  });

  test("of nothing is nothing", () => {
    expect(estimateTokens("")).toBe(0);
  });

  test("grows with the text and never stalls on runs of one kind", () => {
    for (const character of ["a", "A", "7", " ", "\n", "-", "é", "漢", "\u{e0041}", "\ud800"]) {
      const long = estimateTokens(character.repeat(200_000));
      expect(long).toBeGreaterThan(1000);
      expect(Number.isFinite(long)).toBe(true);
    }
  });
});

test("is within about 10 % on any ten definitions of public servers", () => {
  const tools = readPublicTools();
  expect(tools.length).toBeGreaterThan(150);
  for (let from = 0; from + 10 <= tools.length; from += 10) {
    const text = JSON.stringify(tools.slice(from, from + 10));
    const ratio = estimateTokens(text) / countTokens(text);
    expect(ratio).toBeGreaterThan(0.93);
    expect(ratio).toBeLessThan(1.18);
  }
});
