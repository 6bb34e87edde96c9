// An MCP server that takes a second before it answers anything: what npx or uvx make of most servers.
setTimeout(() => import("./echo.mjs"), Number(process.env.BENCH_DELAY_MS ?? 1_000));
