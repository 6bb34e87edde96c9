// Installs Debian's bubblewrap unless it is there: the tests start servers in sandboxes.
import { needPackage } from "./debian-package.mjs";

needPackage("bubblewrap", ["bwrap", "--version"]);
