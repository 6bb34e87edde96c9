// Installs Debian's HAProxy unless it is there: a test restarts gateways behind one of its own.
import { needPackage } from "./debian-package.mjs";

needPackage("haproxy", ["haproxy", "-v"]);
