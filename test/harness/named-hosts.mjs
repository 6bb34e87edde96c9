// Preloaded into a gateway: names of TOOLYARD_TEST_HOSTS (JSON) lead to the addresses that it says, as if whoever owns
// them had changed their DNS; of several, each look-up takes the next, and all further ones the last. All other names
// are looked up as ever. Connections to an address of TOOLYARD_TEST_ROUTES (JSON) end at the port of this machine that
// it says, whatever port they are for, as if the network led there.
import { createRequire, syncBuiltinESMExports } from "node:module";

const dns = createRequire(import.meta.url)("node:dns");
const hosts = JSON.parse(process.env.TOOLYARD_TEST_HOSTS ?? "{}");
const routes = JSON.parse(process.env.TOOLYARD_TEST_ROUTES ?? "{}");
const { lookup } = dns;

dns.lookup = (name, options, callback) => {
  const [given, done] = typeof options === "function" ? [{}, options] : [options, callback];
  const [address, ...others] = [hosts[name] ?? []].flat();
  if (address === undefined) return lookup(name, given, done);
  if (others.length > 0) hosts[name] = others;
  if (given.all === true) process.nextTick(done, null, [{ address, family: 4 }]);
  else process.nextTick(done, null, address, 4);
};
syncBuiltinESMExports();

if (Object.keys(routes).length > 0) {
  const { prototype } = process.binding("tcp_wrap").TCP;
  const { connect } = prototype;
  prototype.connect = function (wanted, address, port) {
    const route = routes[address];
    return route === undefined
      ? connect.call(this, wanted, address, port)
      : connect.call(this, wanted, "127.0.0.1", route);
  };
}
