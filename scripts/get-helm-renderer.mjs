// Installs Debian's Go and sprig unless they are there: a test renders the Helm chart with them, as Helm itself does.
import { needPackage } from "./debian-package.mjs";

needPackage("golang-go", ["go", "version"]);
needPackage("golang-gopkg-yaml.v2-dev", ["test", "-d", "/usr/share/gocode/src/gopkg.in/yaml.v2"]);
needPackage("golang-github-masterminds-sprig-dev", [
  "test",
  "-d",
  "/usr/share/gocode/src/github.com/Masterminds/sprig",
]);
