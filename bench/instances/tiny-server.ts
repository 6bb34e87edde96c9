/** A server in a few lines of shell: hundreds fit into a small machine, and its own start hardly counts. */
const script = `
while IFS= read -r line; do
  id=\${line#*\\"id\\":} id=\${id%%[,\\}]*}
  case $line in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"tiny","version":"1"}}}' ;;
    *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"tools":[{"name":"who","inputSchema":{"type":"object"}}]}}' ;;
    *'"tools/call"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"content":[{"type":"text","text":"'"$$"'"}]}}' ;;
    *'"id"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"error":{"code":-32601,"message":"no"}}' ;;
  esac
done`;

export const tinyServer = { command: "/bin/sh", args: ["-c", script] } as const;
