/** Which host a connection says that it is for: of TLS the SNI, of HTTP the Host header. */
export type SaidHost =
  | { readonly kind: "host"; readonly name: string }
  /** More bytes are needed. */
  | { readonly kind: "more" }
  /** Neither TLS with a name nor HTTP with a Host, or more than is looked at. */
  | { readonly kind: "none" };

/** A ClientHello with keys for several key exchanges takes 2 KB; headers before Host, with cookies, some more. */
export const mostFirstBytes = 32_768;

const none: SaidHost = { kind: "none" };
const more: SaidHost = { kind: "more" };

/** Looks at the first bytes of a connection. Takes time linear in their number. Pure. */
export function hostIn(bytes: Buffer): SaidHost {
  if (bytes.length === 0) return more;
  const said = bytes[0] === tlsHandshake ? helloHost(bytes) : httpHost(bytes);
  return said.kind === "more" && bytes.length >= mostFirstBytes ? none : said;
}

const tlsHandshake = 22;
const clientHello = 1;

/** RFC 8446, 4.1.2, in one or several records; RFC 6066, 3. */
function helloHost(bytes: Buffer): SaidHost {
  const parts: Buffer[] = [];
  let isWhole = true;
  for (let at = 0; at < bytes.length;) {
    if (at + 5 > bytes.length) {
      isWhole = false;
      break;
    }
    if (bytes[at] !== tlsHandshake || bytes[at + 1] !== 3) break;
    const end = at + 5 + bytes.readUInt16BE(at + 3);
    parts.push(bytes.subarray(at + 5, Math.min(end, bytes.length)));
    if (end > bytes.length) isWhole = false;
    at = end;
  }
  const hello = Buffer.concat(parts);
  if (hello.length < 4) return isWhole ? none : more;
  if (hello[0] !== clientHello) return none;
  const length = hello.readUIntBE(1, 3);
  if (length > mostFirstBytes) return none;
  return hello.length < length + 4 ? more : serverName(hello.subarray(4, 4 + length));
}

function serverName(hello: Buffer): SaidHost {
  try {
    // Version and random, then session, cipher suites and compression methods, each with its length.
    let at = 34;
    at += 1 + hello.readUInt8(at);
    at += 2 + hello.readUInt16BE(at);
    at += 1 + hello.readUInt8(at);
    const end = at + 2 + hello.readUInt16BE(at);
    at += 2;
    while (at + 4 <= end) {
      const type = hello.readUInt16BE(at);
      const length = hello.readUInt16BE(at + 2);
      // A list of names, of which there is one: type host_name, and its length.
      if (type === 0 && hello.readUInt8(at + 6) === 0)
        return toHost(hello.toString("latin1", at + 9, at + 9 + hello.readUInt16BE(at + 7)));
      at += 4 + length;
    }
  } catch {
    // It ends within a field.
  }
  return none;
}

function httpHost(bytes: Buffer): SaidHost {
  const text = bytes.toString("latin1", 0, mostFirstBytes);
  if (!/^[A-Z]{1,20}(?: |$)/.test(text)) return /^[A-Z]{1,20}$/.test(text) ? more : none;
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return more;
  const hosts = text
    .slice(0, end)
    .split("\r\n")
    .slice(1)
    .filter((line) => /^host[ \t]*:/i.test(line));
  return hosts.length === 1 ? toHost((hosts[0] ?? "").slice((hosts[0] ?? "").indexOf(":") + 1).trim()) : none;
}

function toHost(written: string): SaidHost {
  const name = written
    .toLowerCase()
    .replace(/:\d{1,5}$/, "")
    .replace(/\.$/, "");
  return name === "" ? none : { kind: "host", name };
}
