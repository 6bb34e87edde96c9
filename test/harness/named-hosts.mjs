// Preloaded into a gateway: names of TOOLYARD_TEST_HOSTS (JSON) lead to the addresses that it says, as if whoever owns
// them had changed their DNS. All other names are looked up as ever.
import { createRequire, syncBuiltinESMExports } from "node:module";

const dns = createRequire(import.meta.url)("node:dns");
const hosts = JSON.parse(process.env.TOOLYARD_TEST_HOSTS ?? "{}");
const { lookup } = dns;

dns.lookup = (name, options, callback) => {
  const [given, done] = typeof options === "function" ? [{}, options] : [options, callback];
  const address = hosts[name];
  if (address === undefined) return lookup(name, given, done);
  if (given.all === true) process.nextTick(done, null, [{ address, family: 4 }]);
  else process.nextTick(done, null, address, 4);
};
syncBuiltinESMExports();
