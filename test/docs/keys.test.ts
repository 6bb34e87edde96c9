import { testTranscripts } from "./page-transcripts.ts";

testTranscripts("keys.md", ["servers", "config check"]);
